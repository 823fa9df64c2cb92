package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"mailbench/internal/floor"
	"mailbench/internal/temp"
)

func floorsCommand() *cli.Command {
	return &cli.Command{
		Name:      "floors",
		Usage:     "print what the kernel and memory of this machine allow on a maildir",
		ArgsUsage: "PATH",
		Description: "Each floor runs -n times and shows its median; the mail is taken as warm as it is.\n" +
			"Example: mailbench floors ~/Mail/lkml",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Value: 3, Usage: "runs of each floor"},
			&cli.StringFlag{Name: "scratch", Usage: "`DIR`ectory for the floors that write (default: below the user's cache directory)"},
			&cli.BoolFlag{Name: "allow-tmpfs", EnvVars: []string{"MAILBENCH_ALLOW_TMPFS"}, Usage: "let scratch lie on tmpfs, where fsync is free"},
		},
		Action: floors,
	}
}

func floors(c *cli.Context) error {
	path, err := onlyPath(c)
	if err != nil {
		return err
	}
	scratch := c.String("scratch")
	if scratch == "" {
		if scratch, err = cacheDir("scratch"); err != nil {
			return err
		}
	}
	if c.Int("n") < 1 {
		return fmt.Errorf("floors: -n %d: want a number from 1", c.Int("n"))
	}
	if err := temp.OnDevice(scratch); err != nil && !c.Bool("allow-tmpfs") {
		return fmt.Errorf("floors: -scratch: %w: name another directory, or say -allow-tmpfs", err)
	}
	dir := floor.Maildir(path)
	if _, err := dir.ReadDir(); err != nil {
		return fmt.Errorf("floors want a maildir: %w", err)
	}
	n := dir.Len()
	keys, work, tmp := floor.Keys(n), make([]uint64, n), make([]uint64, n)
	join := floor.NewJoin(n)
	var text []byte
	buf := make([]byte, 1<<20)
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "floor\tmedian\tbytes\tcalls\t")
	for _, f := range []struct {
		name string
		run  func() (floor.Work, error)
	}{
		{"readdir", dir.ReadDir},
		{"readdir and sort", dir.Names},
		{"open, read header, close", func() (floor.Work, error) { return dir.Headers(0) }},
		{"radix sort", func() (floor.Work, error) { return floor.Radix(keys, work, tmp), nil }},
		{"hash join of 4 ids each", func() (floor.Work, error) { return join.Run(), nil }},
		{"format UIDs", func() (w floor.Work, err error) { text, w = floor.Format(text, n); return w, nil }},
		{"write 64 B each, fsync", func() (floor.Work, error) {
			name, w, err := floor.WriteSeq(scratch, int64(64*n), buf)
			if name != "" {
				defer os.Remove(name)
			}
			return w, err
		}},
		{"write 4 KiB, fdatasync", func() (floor.Work, error) { _, w, err := floor.Sync4K(scratch, 1); return w, err }},
	} {
		var took []time.Duration
		var done floor.Work
		for range c.Int("n") {
			begin := time.Now()
			if done, err = f.run(); err != nil {
				return err
			}
			took = append(took, time.Since(begin))
		}
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\t\n", f.name, middle(took).Round(time.Microsecond), done.Bytes, done.Calls)
	}
	return w.Flush()
}
