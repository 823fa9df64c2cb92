package deps
import (
 _ "github.com/emersion/go-message"
 _ "github.com/emersion/go-message/charset"
 _ "github.com/cespare/xxhash/v2"
 _ "github.com/klauspost/compress/zstd"
 _ "golang.org/x/text/unicode/norm"
 _ "github.com/dgraph-io/ristretto/v2"
 _ "golang.org/x/sys/unix"
 _ "golang.org/x/perf/benchfmt"
 _ "github.com/urfave/cli/v2"
 _ "github.com/schollz/progressbar/v3"
 _ "github.com/dchest/siphash"
 _ "golang.org/x/sync/errgroup"
)
