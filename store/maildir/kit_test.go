package maildir

import (
	"os"
	"testing"

	"mailbench/store/storetest"
)

// No checksums: other bytes of the same number are believed. The kit copies the
// mailbox thousands of times, and here that is a file for each message.
var options = storetest.Options{TrustsDisk: true, Short: os.Getenv("MAILBENCH_LONG") == ""}

func TestStore(t *testing.T) { storetest.RunWith(t, Format, options) }

func BenchmarkStore(b *testing.B) { storetest.Bench(b, Format, options, 100_000) }
