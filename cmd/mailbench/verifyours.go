package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/internal/explain"
	"mailbench/peer"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// The two readings.
const (
	rfcReading     = index.CompatRFC
	dovecotReading = index.CompatDovecot
)

// ours are the answers of one of our designs, in process: peer.Answers.
type ours struct {
	box     *mailbox
	compat  index.Compat
	listing index.Listing
	entries map[string]*index.Entry
}

// openOurs makes an index of the maildir at path in dir. Its UIDs are those of a
// server that sees the mail for the first time, in the order of the file names,
// whatever the maildir's own dovecot-uidlist says.
func openOurs(path, dir, design string, compat index.Compat) (*ours, error) {
	d, ok := designs.Lookup(design)
	if !ok {
		return nil, fmt.Errorf("verify: no design %q", design)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	src, err := source.Open(path, source.Options{})
	if err != nil {
		return nil, err
	}
	o := &ours{box: &mailbox{src: src, dir: dir, design: design}, compat: compat}
	o.box.mb, err = d.Open(index.Config{Dir: dir, Source: src, Options: index.Options{Compat: compat, UIDList: "none"}})
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	if _, err = o.box.mb.Sync(); err == nil {
		err = src.List(&o.listing)
	}
	if err != nil {
		return nil, errors.Join(err, o.box.Close())
	}
	o.entries = make(map[string]*index.Entry, len(o.listing.Entries))
	for i := range o.listing.Entries {
		o.entries[o.listing.Entries[i].Key] = &o.listing.Entries[i]
	}
	return o, nil
}

func (o *ours) Close() error { return o.box.Close() }

// Thread implements peer.Answers.
func (o *ours) Thread(name string) ([]byte, error) {
	alg, err := thread.ParseAlg(name)
	if err != nil {
		return nil, err
	}
	ans, err := o.box.mb.Thread(alg, index.Search{})
	if err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(ans.AppendIMAP(nil), []byte("* ")), nil
}

// Sort implements peer.Answers.
func (o *ours) Sort(keys string) ([]uint32, error) {
	crit, err := mailsort.ParseCriteria(keys)
	if err != nil {
		return nil, err
	}
	return o.box.mb.Sort(crit, index.Search{})
}

// Messages implements peer.Answers. It reads all mail once.
func (o *ours) Messages(fn func(uid uint32, key string, size, date int64) bool) error {
	return o.each(nil, func(m index.Message, x *explain.Message) bool {
		return fn(m.UID, m.Key, x.RFC822Size, x.InternalDate)
	})
}

// Explain implements peer.Answers: what mailbench explain prints of them.
func (o *ours) Explain(uids []uint32) ([][]byte, error) {
	if len(uids) == 0 {
		return nil, nil
	}
	want := make(map[uint32]bool, len(uids))
	for _, uid := range uids {
		want[uid] = true
	}
	places, err := placesIn(o.box, o.entries, want, o.compat)
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	var bad error
	err = o.each(want, func(m index.Message, x *explain.Message) bool {
		x.Put(places[m.UID])
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		bad = enc.Encode(x)
		lines = append(lines, bytes.TrimSpace(b.Bytes()))
		return bad == nil
	})
	return lines, errors.Join(err, bad)
}

// each explains the wanted messages (nil: all), by UID.
func (o *ours) each(want map[uint32]bool, fn func(m index.Message, x *explain.Message) bool) error {
	var bad error
	err := o.box.mb.Messages(func(m index.Message) bool {
		if want != nil && !want[m.UID] {
			return true
		}
		e := o.entries[m.Key]
		if e == nil {
			bad = fmt.Errorf("%s: %s: %w", o.box.src.Path(), m.Key, fs.ErrNotExist)
			return false
		}
		x, err := explain.Explain(o.box.src, e, m, nil, explain.Options{Compat: o.compat})
		if err != nil {
			bad = err
			return false
		}
		return fn(m, x)
	})
	return errors.Join(err, bad)
}

// readings gives the messages of which the two readings read a part
// differently. It reads all headers once.
func (o *ours) readings() (map[peer.Part][]uint32, error) {
	const most = 1000 // references that Dovecot reads
	rfc := index.Extractor{Want: index.WantAll, Compat: rfcReading}
	dovecot := index.Extractor{Want: index.WantAll, Compat: dovecotReading}
	parts := make(map[peer.Part][]uint32)
	var a, b index.Fields
	var buf []byte
	var bad error
	err := o.box.mb.Messages(func(m index.Message) bool {
		e := o.entries[m.Key]
		if e == nil {
			return true // Messages has said so
		}
		head, err := o.box.src.ReadHeader(e, buf[:0])
		if err != nil {
			bad = err
			return false
		}
		buf = head
		rfc.Extract(head, &a)
		dovecot.Extract(head, &b)
		differs := map[peer.Part]bool{
			peer.PartIDs:         len(a.Refs) > most || !bytes.Equal(a.ID, b.ID) || !slices.EqualFunc(a.Refs, b.Refs, bytes.Equal),
			peer.PartSubject:     a.Reply != b.Reply || !bytes.Equal(a.Subject, b.Subject),
			peer.PartDate:        a.DateOK != b.DateOK || a.Date != b.Date,
			peer.PartFrom:        !bytes.Equal(a.From, b.From),
			peer.PartTo:          !bytes.Equal(a.To, b.To),
			peer.PartCc:          !bytes.Equal(a.Cc, b.Cc),
			peer.PartDisplayFrom: !bytes.Equal(a.DisplayFrom, b.DisplayFrom),
			peer.PartDisplayTo:   !bytes.Equal(a.DisplayTo, b.DisplayTo),
		}
		for part, d := range differs {
			if d {
				parts[part] = append(parts[part], m.UID)
			}
		}
		return true
	})
	return parts, errors.Join(err, bad)
}
