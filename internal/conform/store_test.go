package conform

import "testing"

func runStoreScenario(t *testing.T, c *check) { t.Skip("not yet: the designs are being built") }
