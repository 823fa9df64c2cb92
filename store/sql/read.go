package sqlstore

import (
	"bytes"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"io/fs"
	"slices"

	"mailbench/store/catalog"
)

// reader reads mail by the number of its physmessage.
type reader struct{ s *Store }

var _ catalog.Reader = reader{}

const (
	selectParts = `SELECT l.part_order, p.hash, p.data FROM mailbench_partlists l JOIN mailbench_mimeparts p ON p.id = l.part_id
		WHERE l.physmessage_id = ? ORDER BY l.part_order`
	selectHead = `SELECT l.part_order, p.hash, p.data FROM mailbench_partlists l JOIN mailbench_mimeparts p ON p.id = l.part_id
		WHERE l.physmessage_id = ? AND l.part_order = 0`
)

// ReadHead reads the first part, which holds the header up to maxSegment bytes.
func (r reader) ReadHead(row catalog.Row, buf []byte) ([]byte, error) {
	return r.read(selectHead, row, buf)
}

// ReadMessage reads all parts.
func (r reader) ReadMessage(row catalog.Row, buf []byte) ([]byte, error) {
	b, err := r.read(selectParts, row, buf)
	if err == nil && int64(len(b)) != row.Size {
		return buf[:0], r.s.wrap(fmt.Errorf("%w: message %s has parts of %d bytes, not %d", errDamaged, row.Key, len(b), row.Size))
	}
	return b, err
}

// read appends the parts that q selects to buf[:0]; what comes is what was
// stored, by its hash.
func (r reader) read(q string, row catalog.Row, buf []byte) ([]byte, error) {
	buf = buf[:0]
	if row.Size == 0 {
		return buf, nil // it has no parts
	}
	parts := 0
	err := r.s.db.read(func(c *session) error {
		buf, parts = buf[:0], 0
		return c.query(q, func(v []driver.Value) error {
			order, err := asInt(v[0])
			if err != nil {
				return err
			}
			if order != int64(parts) {
				return fmt.Errorf("%w: part %d of message %s comes after %d parts", errDamaged, order, row.Key, parts)
			}
			hash, err := asBytes(v[1])
			if err != nil {
				return err
			}
			data, err := asBytes(v[2])
			if err != nil {
				return err
			}
			if parts == 0 {
				buf = slices.Grow(buf, int(min(row.Size, max(int64(len(data)), 1<<20))))
			}
			parts++
			if sum := sha256.Sum256(data); !bytes.Equal(sum[:], hash) {
				return fmt.Errorf("%w: a part of message %s is not what its hash says", errDamaged, row.Key)
			}
			if buf = append(buf, data...); int64(len(buf)) > row.Size {
				return fmt.Errorf("%w: message %s has parts of more than %d bytes", errDamaged, row.Key, row.Size)
			}
			return nil
		}, row.Off)
	})
	if err != nil {
		return buf[:0], r.s.wrap(err)
	}
	if parts == 0 {
		return buf, fmt.Errorf("sqlstore: %s: message %s: %w", r.s.dir, row.Key, fs.ErrNotExist)
	}
	return buf, nil
}
