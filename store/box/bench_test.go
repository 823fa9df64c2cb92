package box

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

// benchStore is mdbox where it is, else this test's own store.
func benchStore() store.Format {
	if f := format("mdbox"); f != nil {
		return f
	}
	return &memory{spool: true}
}

// scratch is a directory where waiting for the disk costs something: the
// temporary directory may be in memory.
func scratch(b *testing.B) string {
	b.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		b.Skip("no user cache directory: ", err)
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "mailbench-box-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// benchLetter is a mail of 3 KB.
func benchLetter(i int) []byte {
	m := fmt.Appendf(nil, "Message-ID: <m%d@example.net>\nReferences: <m%d@example.net>\nSubject: Re: number %d\n"+
		"Date: Thu, 2 Jan 2020 03:04:05 +0000\nFrom: Person %d <p%d@example.net>\nTo: list@example.net\n\n", i, i/2, i%100, i%10, i%10)
	return append(m, benchBody[:3000-len(m)]...)
}

var benchBody = func() (b []byte) {
	for len(b) < 3000 {
		b = fmt.Appendf(b, "line %d of a body that means nothing at all\n", len(b))
	}
	return b
}()

// BenchmarkAppend is clients that append without a pause. fsyncs and bytes are
// those of the file layer.
func BenchmarkAppend(b *testing.B) {
	for _, clients := range []int{1, 30} {
		for _, p := range policies {
			for _, cache := range []bool{true, false} {
				b.Run(fmt.Sprintf("clients=%d/fsync=%s/cache=%t", clients, p, cache), func(b *testing.B) {
					fsy := fsys.Counting(fsys.OS)
					dir := scratch(b)
					x, err := Open(Config{Store: benchStore(), Design: everyDesign[0], Dir: filepath.Join(dir, "mail"), IndexDir: filepath.Join(dir, "index"), FS: fsy, Fsync: p, Cache: cache,
						Options: index.Options{Fields: "envelope"}})
					if err != nil {
						b.Fatal(err)
					}
					defer x.Close()
					before := fsy.Counts()
					letters := make([]store.Message, 100*clients)
					for i := range letters {
						letters[i].Body = benchLetter(i)
					}
					sent := 0
					for b.Loop() {
						var next atomic.Int64
						var wg sync.WaitGroup
						for range clients {
							wg.Go(func() {
								for i := next.Add(1); i <= int64(len(letters)); i = next.Add(1) {
									if _, err := x.Append(letters[i-1]); err != nil {
										b.Error(err)
										return
									}
								}
							})
						}
						wg.Wait()
						sent += len(letters)
					}
					c := fsy.Counts().Sub(before)
					if got := x.Status().Messages; got != sent {
						b.Fatalf("%d messages, %d were appended", got, sent)
					}
					sizes := 0
					for uid := range uint32(sent) {
						body, err := x.Read(uid+1, nil)
						if err != nil {
							b.Fatal(err)
						}
						sizes += len(body)
					}
					want := 0
					for i := range sent {
						want += len(letters[i%len(letters)].Body)
					}
					if sizes != want {
						b.Fatalf("%d bytes read back, %d were appended", sizes, want)
					}
					n := float64(sent)
					b.ReportMetric(float64(c.Syncs+c.SyncDirs)/n, "fsyncs/msg")
					b.ReportMetric(float64(c.BytesWritten)/n, "written-B/msg")
					b.ReportMetric(n/b.Elapsed().Seconds(), "msg/s")
				})
			}
		}
	}
}
