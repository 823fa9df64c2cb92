package session

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
	maildirstore "mailbench/store/maildir"
)

// numKeywords is how many a mailbox can have: the letters of maildir's names.
const numKeywords = 26

// forwarded is the keyword that is no keyword in the stores: maildir's P.
const forwarded = "$Forwarded"

// keywords are the names of a mailbox's keyword bits, as dovecot-keywords of a
// maildir has them; other stores have such a file beside the index.
type keywords struct {
	names [numKeywords]string // "" = none
}

// systemFlags in the order in which they are told.
var systemFlags = [...]struct {
	flag index.Flags
	name string
}{
	{index.FlagAnswered, `\Answered`}, {index.FlagFlagged, `\Flagged`}, {index.FlagDeleted, `\Deleted`},
	{index.FlagSeen, `\Seen`}, {index.FlagDraft, `\Draft`},
}

// flagOf is the system flag of a name in any case, or FlagForwarded.
func flagOf(name string) (index.Flags, bool) {
	for i := range systemFlags {
		if strings.EqualFold(systemFlags[i].name, name) {
			return systemFlags[i].flag, true
		}
	}
	if strings.EqualFold(name, forwarded) {
		return index.FlagForwarded, true
	}
	return 0, false
}

// keywordDir is where f's file of keywords is.
func (f *folder) keywordDir() string {
	if f.m.cfg.Store == nil || f.m.cfg.Store.Name() == maildirstore.Format.Name() {
		return f.path
	}
	return f.indexDir
}

// readKeywords reads the names again. f.mu and f.life are held.
func (f *folder) readKeywords() error {
	read := func() (map[byte]string, error) { return maildir.Keywords(f.keywordDir()) }
	if f.direct != nil {
		switch src := f.direct.src.(type) {
		case interface {
			Keywords() (map[byte]string, error)
		}:
			read = src.Keywords
		case *source.Message:
			return nil
		}
	}
	names, err := read()
	if err != nil {
		return err
	}
	f.words, f.worded = keywords{}, true
	for letter, name := range names {
		if i := int(letter) - 'a'; i >= 0 && i < numKeywords && isAtom(name) {
			f.words.names[i] = name
		}
	}
	return nil
}

// isAtom reports whether a keyword's name can be said in IMAP.
func isAtom(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`(){%*"\]`, c) >= 0 {
			return false
		}
	}
	return s != "" && len(s) < 256
}

// bit is that of a keyword's name in any case.
func (k *keywords) bit(name string) (uint32, bool) {
	for i, n := range k.names {
		if n != "" && strings.EqualFold(n, name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// full reports whether no name can be added.
func (k *keywords) full() bool {
	for _, n := range k.names {
		if n == "" {
			return false
		}
	}
	return true
}

// each calls fn for the names of bits.
func (k *keywords) each(bits uint32, fn func(name string)) {
	for i, n := range k.names {
		if n != "" && bits>>i&1 != 0 {
			fn(n)
		}
	}
}

// appendFlags appends a list of flags with its parentheses.
func (k *keywords) appendFlags(dst []byte, flags index.Flags, bits uint32) []byte {
	dst = append(dst, '(')
	start := len(dst)
	add := func(name string) {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, name...)
	}
	for i := range systemFlags {
		if flags&systemFlags[i].flag != 0 {
			add(systemFlags[i].name)
		}
	}
	if flags&index.FlagForwarded != 0 {
		add(forwarded)
	}
	if bits != 0 {
		k.each(bits, add)
	}
	return append(dst, ')')
}

// parseFlags turns names into flags; keywords that the mailbox does not have are
// added to it.
func (f *folder) parseFlags(names []string) (flags index.Flags, bits uint32, err error) {
	var missing []string
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		if fl, ok := flagOf(name); ok {
			flags |= fl
		} else if strings.HasPrefix(name, `\`) {
			if !strings.EqualFold(name, `\Recent`) {
				return 0, 0, fmt.Errorf("no flag %s can be set", name)
			}
		} else if b, ok := f.words.bit(name); ok {
			bits |= b
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return flags, bits, nil
	}
	added, err := f.addKeywords(missing)
	return flags, bits | added, err
}

// addKeywords gives names the bits that are free, on disk. f.mu is held.
func (f *folder) addKeywords(names []string) (bits uint32, err error) {
	words := f.words
	for _, name := range names {
		if !isAtom(name) {
			return 0, fmt.Errorf("%q can be no keyword", name)
		}
		if b, ok := words.bit(name); ok {
			bits |= b
			continue
		}
		i := 0
		for i < numKeywords && words.names[i] != "" {
			i++
		}
		if i == numKeywords {
			return 0, fmt.Errorf("[LIMIT] no more than %d keywords", numKeywords)
		}
		words.names[i] = name
		bits |= 1 << i
	}
	err = fsys.WriteFileAtomic(fsys.OS, filepath.Join(f.keywordDir(), "dovecot-keywords"), func(w io.Writer) error {
		for i, n := range words.names {
			if n == "" {
				continue
			}
			if _, err := fmt.Fprintf(w, "%d %s\n", i, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	f.words = words
	return bits, nil
}
