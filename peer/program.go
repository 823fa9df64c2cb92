package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mailbench/peer/proc"
)

// programOutput runs a command, unmeasured, and returns what it prints, without
// the last line end. To end with another status than 0 is an error that has the
// last line of its log in it.
func programOutput(ctx context.Context, c proc.Command, logTail func() string) (string, error) {
	name := strings.Join(append([]string{filepath.Base(c.Path)}, c.Args...), " ")
	p, err := proc.Start(ctx, c)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	err = p.CloseWrite()
	const most = 1 << 20 // of a configuration
	var out bytes.Buffer
	if _, cerr := io.CopyN(&out, p, most); cerr != io.EOF {
		p.Kill() // it says too much, or cannot be read
		err = errors.Join(err, cerr)
	}
	use, werr := p.Wait(ctx)
	if err = errors.Join(err, werr); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if use.Exit != 0 {
		return "", fmt.Errorf("%s: exit status %d: %s", name, use.Exit, logTail())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
