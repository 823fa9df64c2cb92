package suite

import (
	"mailbench/corpus"
	"mailbench/index"
	"mailbench/internal/floor"
	"mailbench/internal/temp"
	"mailbench/thread"
)

// threadFirst: the index knows UIDs and names, nothing of the mail is cached.
// Open, read every header, fill the cache, thread, format.
func threadFirst(d index.Design, fields string, mails temp.State) func(*Runner, *fixture) (*job, error) {
	return func(r *Runner, f *fixture) (*job, error) {
		want, err := f.truth.thread("references", nil)
		if err != nil {
			return nil, err
		}
		src, err := f.source(r.scratch)
		if err != nil {
			return nil, err
		}
		st, err := r.newStage("thread-first")
		if err != nil {
			return nil, err
		}
		o := index.Options{Fields: fields}
		if err := settle(src); err != nil {
			return nil, err
		}
		if err := r.fill(d, src, st.dir, o, nil); err != nil {
			return nil, err
		}
		var mb index.Mailbox
		var line []byte
		j := &job{
			design: d.Name(), op: "thread-first", messages: f.messages, readsAll: !index.ReadsAtSync(d, o),
			mails: mails, files: f.files, index: indexWarm, dir: st.work, stage: st,
			reset: st.reset,
			run: func() (err error) {
				if mb, err = openDesign(d, src, st.work, o); err != nil {
					return err
				}
				if _, err = mb.Sync(); err != nil {
					return err
				}
				line, err = threadLine(mb, "references", index.Search{}, line)
				return err
			},
			check: func() error { return wantDigest("THREAD REFERENCES", corpus.AnswerDigest(line), want) },
			after: func() error { return mb.Close() },
			close: func() error { return joinClose(src.Close, st.close) },
		}
		if f.kind == "maildir" && j.readsAll {
			dir := floor.Maildir(f.path)
			j.floor = func() (floor.Work, error) { return dir.Headers(floorReaders(mails)) }
		}
		return j, nil
	}
}

// floorReaders is how many readers the floor of the headers has: a warm file
// costs CPU time, a cold one waits for the device, which likes a deep queue.
func floorReaders(mails temp.State) int {
	if mails == temp.Warm {
		return 0 // one for each CPU
	}
	return 16
}

// threadLine asks for a thread and formats it into dst's memory.
func threadLine(mb index.Mailbox, alg string, s index.Search, dst []byte) ([]byte, error) {
	a, err := thread.ParseAlg(alg)
	if err != nil {
		return dst, err
	}
	ans, err := mb.Thread(a, s)
	if err != nil {
		return dst, err
	}
	defer formatting().End()
	return ans.AppendIMAP(dst[:0]), nil
}
