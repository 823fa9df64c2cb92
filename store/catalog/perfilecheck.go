package catalog

import (
	"fmt"
	"iter"
	"strings"
)

// Check reads the list again, and every message, and yields what is wrong.
// Files that are not listed are told, too, but for those that were set aside after
// a crash, which most often have left them so. O(mail).
func (p *PerFile) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		p.busy.Lock()
		defer p.busy.Unlock()
		for err := range p.list.Check() {
			if !yield(err) {
				return
			}
		}
		names, err := p.fs.ReadDir(p.dir)
		if err != nil {
			yield(err)
			return
		}
		for _, n := range names {
			if id := p.layout.ID(n); id > 0 {
				if _, listed := p.cat.Get(IDKey(id)); !listed && !yield(fmt.Errorf("%s: mail file %s is not in the list", p.dir, n)) {
					return
				}
			}
			if i := strings.LastIndex(n, ".damaged"); i >= 0 && p.layout.ID(n[:i]) > 0 && !yield(fmt.Errorf("%s: mail file %s was set aside: it is not whole", p.dir, n)) {
				return
			}
		}
		var rows []Row // not under the catalog's lock: reading takes long
		p.cat.Each(func(r Row) bool { rows = append(rows, r); return true })
		var buf []byte
		for _, r := range rows {
			b, err := p.ReadMessage(r, buf)
			if err != nil && !yield(err) {
				return
			}
			buf = b
		}
	}
}
