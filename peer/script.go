package peer

// scriptOf is what every system that speaks IMAP is asked for op, after what it
// wants first, and the answer by which they are compared. nil: op is not done by
// a command.
func scriptOf(op Op, first ...Step) (script []Step, answer string) {
	selected := Step{Command: "SELECT INBOX"}
	script = append(script, first...)
	switch op {
	case OpNoop:
		return append(script, Step{Command: "NOOP", Timed: true}), ""
	case OpSelectFirst, OpSelectAgain, OpResync:
		selected.Timed = true
		return append(script, selected), ""
	case OpThreadFirst, OpThreadAgain:
		return append(script, selected, Step{Command: "UID THREAD REFERENCES UTF-8 ALL", Timed: true}), "thread-references"
	case OpSortDateFirst, OpSortDateAgain:
		return append(script, selected, Step{Command: "UID SORT (DATE) UTF-8 ALL", Timed: true}), "sort-date"
	case OpSortSubjectFirst, OpSortSubjectAgain:
		return append(script, selected, Step{Command: "UID SORT (SUBJECT) UTF-8 ALL", Timed: true}), "sort-subject"
	}
	return nil, ""
}
