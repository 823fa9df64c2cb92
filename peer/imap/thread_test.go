package imap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// print writes threads back as RFC 5256 has them, without recursion.
func print(t Threads) string {
	var b strings.Builder
	b.WriteString("THREAD")
	if len(t.Roots) > 0 {
		b.WriteByte(' ')
	}
	type step struct {
		node int32
		text string // instead of a node
	}
	for _, root := range t.Roots {
		b.WriteByte('(')
		stack := []step{{node: root}}
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if s.text != "" {
				b.WriteString(s.text)
				continue
			}
			n := t.Nodes[s.node]
			if n.Num > 0 {
				if !strings.HasSuffix(b.String(), "(") {
					b.WriteByte(' ')
				}
				fmt.Fprint(&b, n.Num)
			}
			if len(n.Children) == 1 && n.Num > 0 && t.Nodes[n.Children[0]].Num > 0 {
				stack = append(stack, step{node: n.Children[0]})
				continue
			}
			if len(n.Children) > 0 && n.Num > 0 {
				b.WriteByte(' ')
			}
			for _, c := range slices.Backward(n.Children) {
				stack = append(stack, step{text: ")"}, step{node: c}, step{text: "("})
			}
		}
		b.WriteByte(')')
	}
	return b.String()
}

func TestParseThread(t *testing.T) {
	for _, s := range []string{
		"THREAD",
		"THREAD (1)",
		"THREAD (2)(3 6 (4 23)(44 7 96))",
		"THREAD ((3)(5))",
		"THREAD (1 (2)(3 (4)(5 6)))(7 8 9)",
		"THREAD ((1 (2)(3))(4))",
		"THREAD (4294967295)",
	} {
		got, err := ParseThread([]byte(s))
		if err != nil || print(got) != s {
			t.Errorf("%s: %s %v", s, print(got), err)
		}
	}
	got, err := ParseThread([]byte("thread (2)(3 6 (4 23)(44 7))"))
	want := Threads{Roots: []int32{0, 1}, Nodes: []Node{{2, nil}, {3, []int32{2}}, {6, []int32{3, 5}}, {4, []int32{4}}, {23, nil}, {44, []int32{6}}, {7, nil}}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v (%v)", got, want, err)
	}
	if got, err := ParseThread([]byte("THREAD ((3)(5))")); err != nil || got.Nodes[0].Num != 0 || len(got.Nodes[0].Children) != 2 {
		t.Errorf("%v %v", got, err)
	}
	for _, s := range []string{"", "SORT 1", "THREADS (1)", "1 THREAD (1)", "THREAD 1", "THREAD (", "THREAD (1", "THREAD (1))", "THREAD ()", "THREAD (())", "THREAD (0)",
		"THREAD (1 (2)(3) 4)", "THREAD (1x)", "THREAD (4294967296)", "THREAD (99999999999999999999)", "THREAD (-1)", "THREAD (1)\r\n", "THREAD (01)"} {
		if got, err := ParseThread([]byte(s)); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
	const deep = 200_000
	got, err = ParseThread([]byte("THREAD " + strings.Repeat("(1 (2)", deep) + strings.Repeat(")", deep)))
	if err != nil || len(got.Nodes) != 2*deep || len(got.Roots) != 1 {
		t.Error(len(got.Nodes), err)
	}
}

func TestParseNumbers(t *testing.T) {
	for _, c := range []struct {
		line, name string
		want       []uint32
		ok         bool
	}{
		{"SORT 3 1 2", "SORT", []uint32{9, 3, 1, 2}, true},
		{"SORT", "SORT", []uint32{9}, true},
		{"search 7 (MODSEQ 5)", "SEARCH", []uint32{9, 7}, true},
		{"SORT 4294967295", "SORT", []uint32{9, 4294967295}, true},
		{"SORT 4294967296", "SORT", nil, false},
		{"SORT 0", "SORT", nil, false},
		{"SORT 1,2", "SORT", nil, false},
		{"SORT 1 (", "SORT", nil, false},
		{"SORTED 1", "SORT", nil, false},
		{"5 SORT", "SORT", nil, false},
		{"", "SORT", nil, false},
	} {
		got, err := ParseNumbers([]uint32{9}, []byte(c.line), c.name)
		if (err == nil) != c.ok || c.ok && !slices.Equal(got, c.want) {
			t.Errorf("%q: %v %v", c.line, got, err)
		}
	}
}

func FuzzParseThread(f *testing.F) {
	for _, s := range []string{"THREAD (1)", "THREAD ((3)(5 6 (7)(8)))", "THREAD (", "THREAD (1 2(3)(4))"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ParseThread(b)
		if err != nil || len(got.Nodes) > 1000 {
			return
		}
		// What it says is what we print of it, read again.
		again, err := ParseThread([]byte(print(got)))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%q: %v, printed %q: %v %v", b, got, print(got), again, err)
		}
		seen := make([]int, len(got.Nodes))
		for _, r := range got.Roots {
			seen[r]++
		}
		for i, n := range got.Nodes {
			for _, c := range n.Children {
				if int(c) <= i {
					t.Errorf("node %d before its parent %d", c, i)
				}
				seen[c]++
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Errorf("node %d has %d parents", i, n)
			}
		}
	})
}
