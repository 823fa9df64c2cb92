package session

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMemoryOfStuck: a client that does not read costs its answer, and no other
// copy of the message.
func TestMemoryOfStuck(t *testing.T) {
	const size = 16 << 20
	dir := maildirOf(t)
	deliver(t, dir, 3, "", "Subject: x\n\n"+strings.Repeat(strings.Repeat("x", 63)+"\n", size/64))
	k := dial(t, served(t, Config{Path: dir}))
	k.say("SELECT INBOX")
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	before := heap()
	if _, err := io.WriteString(k.w, "x FETCH 4 (BODY.PEEK[])\r\n"); err != nil {
		t.Fatal(err)
	}
	k.r.Peek(1) // the answer is made
	time.Sleep(50 * time.Millisecond)
	if got := heap() - before; got < size/2 || got > size*7/4 {
		t.Errorf("%d bytes for a message of %d", got, size)
	}
}
