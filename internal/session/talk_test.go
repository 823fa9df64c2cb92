package session

import (
	"strings"
	"testing"
)

// TestConversation: what is said, and what must be answered, line by line.
func TestConversation(t *testing.T) {
	m := served(t, Config{Path: maildirOf(t, "S", "", "FT")})
	k := dial(t, m)
	for _, turn := range []struct{ say, want string }{
		{"NOOP", "OK NOOP completed"},
		{"FETCH 1 FLAGS", "BAD no mailbox is selected"},
		{"SELECT nowhere", "NO [NONEXISTENT] no such mailbox"},
		{`LIST "" *`, `* LIST (\HasNoChildren) "/" "INBOX"` + "\nOK LIST completed"},
		{"STATUS inbox (MESSAGES UNSEEN UIDNEXT UIDVALIDITY)", "* STATUS \"inbox\" (MESSAGES 3 UNSEEN 2 UIDNEXT 4 UIDVALIDITY 77)\nOK STATUS completed"},
		{"SELECT INBOX", `* FLAGS (\Answered \Flagged \Deleted \Seen \Draft $Forwarded)
* OK [PERMANENTFLAGS ()] read-only mailbox
* 3 EXISTS
* 0 RECENT
* OK [UIDVALIDITY 77] UIDs valid
* OK [UIDNEXT 4] predicted next UID
* OK [HIGHESTMODSEQ 1] highest
OK [READ-ONLY] SELECT completed`},
		{"UID THREAD REFERENCES UTF-8 ALL", "* THREAD (1 2)(3)\nOK UID completed"},
		{"THREAD ORDEREDSUBJECT UTF-8 NOT SUBJECT nke", "* THREAD (1 2)\nOK THREAD completed"},
		{"UID SORT (REVERSE DATE) UTF-8 ALL", "* SORT 2 3 1\nOK UID completed"},
		{"SORT (SUBJECT) UTF-8 UNDELETED", "* SORT 1 2\nOK SORT completed"},
		{"SEARCH ALL", "* SEARCH 1 2 3\nOK SEARCH completed"},
		{"SEARCH CHARSET KOI8-R ALL", "NO [BADCHARSET (US-ASCII UTF-8)] no charset KOI8-R"},
		{"SEARCH UNSEEN", "* SEARCH 2 3\nOK SEARCH completed"},
		{"SEARCH FLAGGED DELETED", "* SEARCH 3\nOK SEARCH completed"},
		{"SEARCH OR SEEN FLAGGED", "* SEARCH 1 3\nOK SEARCH completed"},
		{"SEARCH NOT (SEEN)", "* SEARCH 2 3\nOK SEARCH completed"},
		{"SEARCH 2:* UID 1:2", "* SEARCH 2\nOK SEARCH completed"},
		{"UID SEARCH UID *", "* SEARCH 3\nOK UID completed"},
		{"SEARCH SUBJECT APPLES", "* SEARCH 1 2\nOK SEARCH completed"},
		{"SEARCH CHARSET UTF-8 SUBJECT \"b\xc3\x84n\"", "* SEARCH 3\nOK SEARCH completed"},
		{"SEARCH FROM ann@", "* SEARCH 1\nOK SEARCH completed"},
		{"SEARCH HEADER Message-ID <2@x>", "* SEARCH 2\nOK SEARCH completed"},
		{"SEARCH HEADER References \"\"", "* SEARCH 2\nOK SEARCH completed"},
		{"SEARCH BODY gr\xc3\xbc", "* SEARCH 3\nOK SEARCH completed"},
		{"SEARCH TEXT SECOND", "* SEARCH 2\nOK SEARCH completed"},
		{"SEARCH SENTSINCE 2-Jan-2015", "* SEARCH 2\nOK SEARCH completed"},
		{"SEARCH SENTON 1-Jan-2015", "* SEARCH 1 3\nOK SEARCH completed"},
		{"SEARCH BEFORE 1-Jan-2016", "* SEARCH\nOK SEARCH completed"},
		{"SEARCH SINCE 1-Jan-2016 SMALLER 200", "* SEARCH 1 2\nOK SEARCH completed"},
		{"SEARCH KEYWORD nothing", "* SEARCH\nOK SEARCH completed"},
		{"SEARCH WHATEVER", "BAD nothing is known of search key WHATEVER"},
		{"FETCH 1:3 (FLAGS UID)", `* 1 FETCH (FLAGS (\Seen) UID 1)
* 2 FETCH (FLAGS () UID 2)
* 3 FETCH (FLAGS (\Flagged \Deleted) UID 3)
OK FETCH completed`},
		{"UID FETCH 2 BODY[HEADER.FIELDS (subject date)]", "* 2 FETCH (UID 2 BODY[HEADER.FIELDS (SUBJECT DATE)] {61}\nSubject: Re: apples\nDate: Fri, 2 Jan 2015 10:00:00 +0000\n\n)\nOK UID completed"},
		{"FETCH 2 (RFC822.SIZE BODY.PEEK[TEXT] BODY[1]<7.100>)", "* 2 FETCH (RFC822.SIZE 182 BODY[TEXT] {13}\nsecond text\n BODY[1]<7> {6}\ntext\n)\nOK FETCH completed"},
		{"FETCH 1 ENVELOPE", `* 1 FETCH (ENVELOPE ("Thu, 1 Jan 2015 10:00:00 +0000" "apples" (("Ann" NIL "ann" "example.org")) (("Ann" NIL "ann" "example.org")) (("Ann" NIL "ann" "example.org")) ((NIL NIL "bob" "example.org")) NIL NIL NIL "<1@x>"))
OK FETCH completed`},
		{"FETCH 3 BODY", `* 3 FETCH (BODY (("text" "plain" ("charset" "utf-8") NIL NIL "base64" 12 0)("text" "html" NIL NIL NIL "7bit" 9 0) "mixed"))
OK FETCH completed`},
		{"FETCH 3 (BODY.PEEK[2] BODY[1.MIME] BODY[4])", "* 3 FETCH (BODY[2] {9}\n<p>hi</p> BODY[1.MIME] {78}\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n BODY[4] NIL)\nOK FETCH completed"},
		{"FETCH 4 FLAGS", "BAD there is no message of that number"},
		{"UID FETCH 4:9 FLAGS", "OK UID completed"},
		{"UID FETCH 4:* FLAGS", "* 3 FETCH (UID 3 FLAGS (\\Flagged \\Deleted))\nOK UID completed"},
		{"FETCH 1 NONSENSE", "BAD nothing is known of fetch item NONSENSE"},
		{"STORE 1 +FLAGS (\\Seen)", "NO the mailbox is read-only"},
		{"EXPUNGE", "NO the mailbox is read-only"},
		{"CREATE x", "NO the mailbox is read-only"},
		{"RENAME x y", "NO RENAME is not supported by this server"},
		{"COPY 1 INBOX", "NO the mailbox is read-only"},
		{"XYZZY", "BAD no command XYZZY"},
		{"CLOSE", "OK CLOSE completed"},
		{"LOGOUT", "* BYE logging out\nOK LOGOUT completed"},
	} {
		got := strings.TrimSuffix(strings.ReplaceAll(k.say(turn.say), "\r\n", "\n"), "\n")
		if got != turn.want {
			t.Errorf("%s:\n got %q\nwant %q", turn.say, got, turn.want)
		}
	}
}
