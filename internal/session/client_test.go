package session

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"mailbench/store/box"
)

// TestClient: the client library of others finds everything as it expects it.
func TestClient(t *testing.T) {
	m := served(t, Config{Path: maildirOf(t, "S", "", "F"), Write: true, Fsync: box.Never})
	server, conn := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(t.Context(), server, m)
		server.Close()
	}()
	expunged := make(chan uint32, 10)
	c := imapclient.New(conn, &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Expunge: func(seq uint32) { expunged <- seq },
	}})
	defer c.Close()
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	check("greeting", c.WaitGreeting())
	if c.State() != imap.ConnStateAuthenticated {
		t.Fatalf("state %v", c.State())
	}
	boxes, err := c.List("", "*", nil).Collect()
	check("LIST", err)
	if len(boxes) != 1 || boxes[0].Mailbox != "INBOX" || boxes[0].Delim != '/' {
		t.Errorf("LIST %+v", boxes)
	}
	status, err := c.Status("INBOX", &imap.StatusOptions{NumMessages: true, UIDNext: true, NumUnseen: true}).Wait()
	check("STATUS", err)
	if *status.NumMessages != 3 || status.UIDNext != 4 || *status.NumUnseen != 2 {
		t.Errorf("STATUS %+v", status)
	}
	sel, err := c.Select("INBOX", nil).Wait()
	check("SELECT", err)
	if sel.NumMessages != 3 || sel.UIDValidity != 77 || sel.UIDNext != 4 {
		t.Errorf("SELECT %+v", sel)
	}
	body := &imap.FetchItemBodySection{Peek: true}
	fields := &imap.FetchItemBodySection{Peek: true, Specifier: imap.PartSpecifierHeader, HeaderFields: []string{"Subject"}}
	msgs, err := c.Fetch(imap.UIDSetNum(1, 3), &imap.FetchOptions{Flags: true, Envelope: true, InternalDate: true, RFC822Size: true, UID: true,
		BodyStructure: &imap.FetchItemBodyStructure{Extended: true}, BodySection: []*imap.FetchItemBodySection{body, fields}}).Collect()
	check("FETCH", err)
	if len(msgs) != 2 {
		t.Fatalf("FETCH: %d messages", len(msgs))
	}
	if e := msgs[0].Envelope; e.Subject != "apples" || e.From[0].Addr() != "ann@example.org" || e.MessageID != "1@x" || !e.Date.Equal(time.Date(2015, 1, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("envelope %+v", e)
	}
	if s := msgs[1].Envelope.Subject; s != "Bänke" {
		t.Errorf("subject %q", s)
	}
	if got := string(msgs[0].FindBodySection(body)); got != letters()[0] || msgs[0].RFC822Size != int64(len(got)) {
		t.Errorf("body %q of %d", got, msgs[0].RFC822Size)
	}
	if got := string(msgs[0].FindBodySection(fields)); got != "Subject: apples\r\n\r\n" {
		t.Errorf("fields %q", got)
	}
	if mp, ok := msgs[1].BodyStructure.(*imap.BodyStructureMultiPart); !ok || len(mp.Children) != 2 || mp.Subtype != "mixed" {
		t.Errorf("structure %+v", msgs[1].BodyStructure)
	}
	short, err := c.Fetch(imap.SeqSetNum(3), &imap.FetchOptions{BodyStructure: &imap.FetchItemBodyStructure{}}).Collect()
	check("FETCH BODY", err)
	if mp, ok := short[0].BodyStructure.(*imap.BodyStructureMultiPart); !ok || len(mp.Children) != 2 || mp.Extended != nil {
		t.Errorf("body %+v", short[0].BodyStructure)
	}
	found, err := c.UIDSearch(&imap.SearchCriteria{NotFlag: []imap.Flag{imap.FlagSeen}, Header: []imap.SearchCriteriaHeaderField{{Key: "Subject", Value: "Apples"}}}, nil).Wait()
	check("SEARCH", err)
	if got := found.AllUIDs(); len(got) != 1 || got[0] != 2 {
		t.Errorf("SEARCH %v", got)
	}
	order, err := c.UIDSort(&imapclient.SortOptions{SearchCriteria: &imap.SearchCriteria{}, SortCriteria: []imapclient.SortCriterion{{Key: imapclient.SortKeyDate, Reverse: true}}}).Wait()
	check("SORT", err)
	if len(order) != 3 || order[0] != 2 || order[1] != 3 || order[2] != 1 {
		t.Errorf("SORT %v", order)
	}
	trees, err := c.UIDThread(&imapclient.ThreadOptions{Algorithm: imap.ThreadReferences, SearchCriteria: &imap.SearchCriteria{}}).Wait()
	check("THREAD", err)
	if len(trees) != 2 || len(trees[0].Chain) != 2 || trees[1].Chain[0] != 3 {
		t.Errorf("THREAD %+v", trees)
	}
	text := "Subject: new\r\nMessage-ID: <4@x>\r\n\r\nyes\r\n"
	app := c.Append("INBOX", int64(len(text)), &imap.AppendOptions{Flags: []imap.Flag{imap.FlagDraft, "$Later"}, Time: time.Unix(1420106400, 0)})
	if _, err := app.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	check("APPEND", app.Close())
	data, err := app.Wait()
	check("APPEND", err)
	if data.UID != 4 || data.UIDValidity != 77 {
		t.Errorf("APPEND %+v", data)
	}
	changed, err := c.Store(imap.UIDSetNum(4, 1), &imap.StoreFlags{Op: imap.StoreFlagsAdd, Flags: []imap.Flag{imap.FlagDeleted}}, nil).Collect()
	check("STORE", err)
	if len(changed) != 2 || len(changed[1].Flags) != 3 {
		t.Errorf("STORE %+v", changed)
	}
	gone, err := c.UIDExpunge(imap.UIDSetNum(4)).Collect()
	check("UID EXPUNGE", err)
	if len(gone) != 1 || gone[0] != 4 {
		t.Errorf("EXPUNGE %v", gone)
	}
	idle, err := c.Idle()
	check("IDLE", err)
	k := dial(t, m)
	k.say("SELECT INBOX")
	k.want("EXPUNGE", "* 1 EXPUNGE\nOK EXPUNGE completed")
	if seq := <-expunged; seq != 1 {
		t.Errorf("IDLE tells of %d", seq)
	}
	check("IDLE", idle.Close())
	check("IDLE", idle.Wait())
	if err := c.Rename("x", "y", nil).Wait(); err == nil || !strings.Contains(err.Error(), "not supported") {
		t.Errorf("RENAME: %v", err)
	}
	check("CREATE", c.Create("x/y", nil).Wait())
	if err := c.Create("x/y", nil).Wait(); err == nil {
		t.Error("CREATE twice")
	}
	copied, err := c.Copy(imap.UIDSetNum(2, 3), "x/y").Wait()
	check("COPY", err)
	if n, _ := copied.DestUIDs.Nums(); len(n) != 2 || n[0] != 1 {
		t.Errorf("COPY %+v", copied)
	}
	if _, err := c.Copy(imap.UIDSetNum(2), "nowhere").Wait(); err == nil || !strings.Contains(err.Error(), "TRYCREATE") {
		t.Errorf("COPY: %v", err)
	}
	_, err = c.Select("x/y", nil).Wait()
	check("SELECT", err)
	msgs, err = c.Fetch(imap.UIDSetNum(1, 2), &imap.FetchOptions{Flags: true, Envelope: true, InternalDate: true}).Collect()
	check("FETCH", err)
	if len(msgs) != 2 || msgs[1].Envelope.Subject != "Bänke" || len(msgs[1].Flags) != 1 {
		t.Errorf("what was copied: %+v", msgs)
	}
	check("UNSELECT", c.Unselect().Wait())
	check("DELETE", c.Delete("x/y").Wait())
	if err := c.Delete("INBOX").Wait(); err == nil {
		t.Error("INBOX is deleted")
	}
	check("SELECT", func() error { _, err := c.Select("INBOX", nil).Wait(); return err }())
	check("UNSELECT", c.Unselect().Wait())
	check("LOGOUT", c.Logout().Wait())
	if err := <-done; err != nil {
		t.Error(err)
	}
}
