package index

import "slices"

// A Registry is a list of designs by name.
type Registry []Design

// Lookup finds a design by its name.
func (r Registry) Lookup(name string) (Design, bool) {
	i := slices.IndexFunc(r, func(d Design) bool { return d.Name() == name })
	if i < 0 {
		return nil, false
	}
	return r[i], true
}

// Names lists the designs' names in the registry's order.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, d := range r {
		names[i] = d.Name()
	}
	return names
}
