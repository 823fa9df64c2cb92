package peer

import (
	"fmt"
	"slices"
	"strings"
)

// SystemNames are the systems that Selected knows, in the order of a table: the
// first that is there is the one that the others are compared with.
var SystemNames = []string{"dovecot", "dovecot-matched", "courier", "cyrus", "notmuch", "mu"}

// SelectOptions say how the systems are found and configured.
type SelectOptions struct {
	Dovecot DovecotOptions // dovecot-matched differs in name and cached fields only, and starts from no index
	Courier CourierOptions
	Cyrus   CyrusOptions
	Notmuch NotmuchOptions
	Mu      MuOptions
	Ours    OursOptions // its name is the design's
}

// Selected makes the systems of these names (nil: all) and, behind them, our
// designs. Whether they are installed is for Measure to find out. Names it does
// not know are an error; the designs are the caller's to check.
func Selected(names, designs []string, o SelectOptions) (list []System, err error) {
	for _, name := range names {
		if !slices.Contains(SystemNames, name) {
			return nil, fmt.Errorf("no system %q (there are %s)", name, strings.Join(SystemNames, ", "))
		}
	}
	for _, name := range SystemNames {
		if names != nil && !slices.Contains(names, name) {
			continue
		}
		switch name {
		case "dovecot":
			list = append(list, NewDovecot(o.Dovecot))
		case "dovecot-matched":
			matched := o.Dovecot
			matched.Name, matched.CacheFields, matched.WithIndex = name, DovecotMatchedFields, ""
			list = append(list, NewDovecot(matched))
		case "courier":
			list = append(list, NewCourier(o.Courier))
		case "cyrus":
			list = append(list, NewCyrus(o.Cyrus))
		case "notmuch":
			list = append(list, NewNotmuch(o.Notmuch))
		case "mu":
			list = append(list, NewMu(o.Mu))
		}
	}
	for _, design := range designs {
		ours := o.Ours
		ours.Name = ""
		list = append(list, NewOurs(design, ours))
	}
	return list, nil
}

// Available are those of the systems that this machine has.
func Available(systems []System) (list []System) {
	for _, s := range systems {
		if s.Available() == nil {
			list = append(list, s)
		}
	}
	return list
}
