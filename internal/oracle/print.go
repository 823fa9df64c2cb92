package oracle

import "strconv"

// appendThreads writes RFC 5256 section 4:
//
//	thread-list    = "(" (thread-members / thread-nested) ")"
//	thread-members = nz-number *(SP nz-number) [SP thread-nested]
//	thread-nested  = 2*thread-list
func appendThreads(dst []byte, threads []*node) string {
	for _, n := range threads {
		dst = appendList(dst, n)
	}
	return string(dst)
}

func appendList(dst []byte, n *node) []byte {
	dst = append(dst, '(')
	dst = appendMembers(dst, n)
	return append(dst, ')')
}

func appendMembers(dst []byte, n *node) []byte {
	for {
		if n.mail != nil {
			dst = strconv.AppendUint(dst, uint64(n.mail.uid), 10)
			if len(n.children) > 0 {
				dst = append(dst, ' ')
			}
		}
		if len(n.children) != 1 {
			break
		}
		n = n.children[0]
	}
	for _, child := range n.children {
		dst = appendList(dst, child)
	}
	return dst
}
