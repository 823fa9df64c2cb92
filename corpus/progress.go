package corpus

// Progress is told how a long task goes on, from one goroutine. A nil Progress
// is allowed everywhere. internal/bar has one for terminals.
type Progress interface {
	Start(what string, total int)
	Add(n int)
	Done()
}

// quiet is the Progress of those who want none.
type quiet struct{}

func (quiet) Start(string, int) {}
func (quiet) Add(int)           {}
func (quiet) Done()             {}

func orQuiet(p Progress) Progress {
	if p == nil {
		return quiet{}
	}
	return p
}
