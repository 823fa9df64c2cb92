package suite

import (
	"fmt"
	"slices"
	"strings"
)

// axes is the order of key=value parts in a row's name.
var axes = strings.Fields("design format store alg key op shape fields option pass age delta since search answers dead " +
	"mails index indexdir io fs fsync slow cache tier clients logout rate grown msgs")

// A Param is one axis of a row and its value.
type Param struct{ Key, Value string }

// params sorts alternating keys and values into the order of axes and drops
// those without a value. It panics on a key or value that would break the
// grammar of names: a mistake of this package, not of its input.
func params(kv ...string) []Param {
	var out []Param
	for i := 0; i+1 < len(kv); i += 2 {
		k, v := kv[i], kv[i+1]
		if v == "" {
			continue
		}
		if !slices.Contains(axes, k) || strings.ContainsAny(v, ",/ =") || endsInNumber(v) {
			panic(fmt.Sprintf("suite: %s=%s cannot stand in a benchmark's name", k, v))
		}
		out = append(out, Param{k, v})
	}
	slices.SortStableFunc(out, func(a, b Param) int {
		return slices.Index(axes, a.Key) - slices.Index(axes, b.Key)
	})
	return out
}

// endsInNumber reports a trailing -digits, which benchstat takes for
// GOMAXPROCS.
func endsInNumber(v string) bool {
	i := strings.LastIndexByte(v, '-')
	return i >= 0 && i+1 < len(v) && strings.Trim(v[i+1:], "0123456789") == ""
}

func joinParams(ps []Param) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = p.Key + "=" + p.Value
	}
	return strings.Join(parts, "/")
}
