package conform

import (
	"testing"

	"mailbench/internal/rfc5322"
)

func runMsgID(t *testing.T, c *check) {
	ids := []string{}
	rfc5322.EachID(c.input(t), nil, func(id []byte) bool {
		ids = append(ids, string(id))
		return true
	})
	c.accept(t, ids, nil)
}
