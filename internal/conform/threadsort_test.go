package conform

import (
	"path/filepath"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/thread"
)

// caseMbox is the path of a case's msgs.mbox, compressed or not.
func caseMbox(t *testing.T, c *check) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(c.Dir, "msgs.mbox*"))
	if err != nil || len(found) != 1 {
		t.Fatal("want one msgs.mbox: ", found, err)
	}
	return found[0]
}

func runThread(t *testing.T, c *check) {
	alg := thread.References
	if c.op == "thread-orderedsubject" {
		alg = thread.OrderedSubject
	}
	msgs := splitForTest(t, readFile(t, caseMbox(t, c)))
	c.accept(t, newMemory(msgs, index.CompatRFC).thread(alg), nil)
	eachDesign(t, caseMbox(t, c), func(t *testing.T, box index.Mailbox) {
		a, err := box.Thread(alg, index.Search{})
		if err != nil {
			t.Fatal(err)
		}
		c.accept(t, strings.TrimPrefix(string(a.AppendIMAP(nil)), "* THREAD "), nil)
	})
}

func runSort(t *testing.T, c *check) {
	var k struct{ Keys []string }
	c.decode(t, &k)
	keys := strings.Join(k.Keys, " ")
	msgs := splitForTest(t, readFile(t, caseMbox(t, c)))
	c.accept(t, newMemory(msgs, index.CompatRFC).sort(t, keys), nil)
	eachDesign(t, caseMbox(t, c), func(t *testing.T, box index.Mailbox) {
		c.accept(t, sortBox(t, box, keys), nil)
	})
}
