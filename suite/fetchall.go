package suite

import (
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/temp"
)

// fetchAll: FETCH ENVELOPE of the whole mailbox, its fields cached by an
// earlier one. Open, sync, fetch.
func fetchAll(d index.Design) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		want, err := f.truth.keep("fetch envelope", func() (string, error) { return envelopesOf(r, f) })
		if err != nil {
			return nil, err
		}
		src, err := f.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("fetch")
		if err != nil {
			return nil, err
		}
		if err := settle(src); err != nil {
			return nil, err
		}
		o := index.Options{Fields: "envelope"}
		uids := upTo(f.messages)
		sum := xxhash.New()
		fetch := func(mb index.Mailbox) error {
			sum.Reset()
			fetcher, ok := mb.(index.Fetcher)
			if !ok {
				return fmt.Errorf("%s says that it fetches, and does not", d.Name())
			}
			return fetcher.Fetch(uids, index.EnvelopeFields, func(uid uint32, values [][]byte) error {
				hashValues(sum, uid, values)
				return nil
			})
		}
		if err := r.fill(d, src, st.dir, o, fetch); err != nil {
			return nil, err
		}
		if err := st.reset(); err != nil {
			return nil, err
		}
		var mb index.Mailbox
		return &job{
			design: d.Name(), op: "fetch", messages: f.messages,
			mails: temp.Warm, files: f.files, index: indexWarm, dir: st.work, reset: st.reset,
			run: func() (err error) {
				if mb, err = openDesign(d, src, st.work, o); err != nil {
					return err
				}
				if _, err = mb.Sync(); err != nil {
					return err
				}
				return fetch(mb)
			},
			check: func() error { return wantDigest("FETCH ENVELOPE", fmt.Sprintf("%016x", sum.Sum64()), want) },
			after: func() error { return mb.Close() },
			close: func() error { return joinClose(src.Close, st.close) },
		}, nil
	}
}

// hashValues adds a message's values to a digest: taking them up is part of
// what a FETCH costs.
func hashValues(h *xxhash.Digest, uid uint32, values [][]byte) {
	var b [8]byte
	put := func(n int) {
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		_, _ = h.Write(b[:]) // never fails
	}
	put(int(uid))
	for _, v := range values {
		put(len(v) + 1)
		if v == nil {
			put(0)
		}
		_, _ = h.Write(v)
	}
}

// envelopesOf is the digest of the right answer, read from the mail in UID
// order by the plainest means.
func envelopesOf(r *Runner, f *fixture) (string, error) {
	src, err := f.source(r.scratch)
	if err != nil {
		return "", err
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return "", err
	}
	src.Order(l.Entries)
	sum := xxhash.New()
	values := make([][]byte, len(index.EnvelopeFields))
	var buf []byte
	for i := range l.Entries {
		if buf, err = src.ReadHeader(&l.Entries[i], buf); err != nil {
			return "", err
		}
		for k, name := range index.EnvelopeFields {
			values[k] = plainField(buf, name)
		}
		hashValues(sum, uint32(i+1), values)
	}
	return fmt.Sprintf("%016x", sum.Sum64()), nil
}

// plainField is the value of the first field of that name, the obvious way:
// lines, then those that go on, then line ends and outer white space away.
// nil: there is none.
func plainField(header []byte, name string) []byte {
	lines := strings.SplitAfter(string(header), "\n")
	for i, line := range lines {
		if strings.TrimRight(line, "\r\n") == "" {
			return nil
		}
		head, value, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimRight(head, " \t"), name) {
			continue
		}
		for _, more := range lines[i+1:] {
			if more == "" || more[0] != ' ' && more[0] != '\t' {
				break
			}
			value += more
		}
		value = strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", ""), "\n", "")
		return append([]byte{}, strings.Trim(value, " \t\r")...) // nil would say: no such field
	}
	return nil
}
