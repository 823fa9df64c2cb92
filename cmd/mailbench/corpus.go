package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"

	"mailbench/corpus"
	"mailbench/corpus/stat"
	"mailbench/internal/bar"
)

func corpusCommand() *cli.Command {
	return &cli.Command{
		Name:        "corpus",
		Usage:       "make or describe a corpus",
		Description: "Example: mailbench corpus generate synthetic:20000,seed=7 ./maildir",
		Subcommands: []*cli.Command{
			{
				Name: "generate", Usage: "write a synthetic corpus as a maildir or an mbox", ArgsUsage: "SPEC PATH",
				Description: "SPEC is synthetic, synthetic:N or synthetic:N,seed=S,shape=SHAPE,body=short|real|none,clean.\n" +
					"PATH must not exist. One that ends in .gz or .zst is a compressed mbox.\nExample: mailbench corpus generate synthetic:1000 list.mbox.zst",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "format", Usage: "maildir or mbox (default: as PATH is called, mbox for .mbox, .gz and .zst)"}},
				Action: generate,
			},
			{
				Name: "info", Usage: "print the statistics of any corpus", ArgsUsage: "PATH",
				Description: "PATH is a maildir, an mbox (plain, .gz, .zst), one message file or a SPEC.\n" +
					"Example: mailbench corpus info ~/Mail/lkml",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "dialect", Value: "mboxrd", Usage: "of an mbox: mboxrd, mboxo, mboxcl, mboxcl2"}},
				Action: corpusInfo,
			},
			importCommand(),
		},
	}
}

func generate(c *cli.Context) error {
	if c.NArg() != 2 {
		return fmt.Errorf("corpus generate: want SPEC and PATH, got %d arguments", c.NArg())
	}
	spec, err := corpus.Parse(c.Args().First())
	if err != nil {
		return err
	}
	write := writerFor(c.Args().Get(1))
	if c.IsSet("format") {
		format, err := oneOf(c, "format", "maildir", "mbox")
		if err != nil {
			return err
		}
		if (format == "mbox") != write.mbox {
			write = formWriter{write: corpus.WriteMaildir}
			if format == "mbox" {
				write = formWriter{true, corpus.WriteMbox}
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var info corpus.Info
	err = writeWhole(c.Args().Get(1), func(partial string) (err error) {
		info, err = write.write(ctx, partial, spec, bar.New())
		return err
	})
	if err != nil {
		return fmt.Errorf("corpus generate: %w", err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s\ndigest %s\nmessages %d\nbytes %d\n", spec.Name(), info.Digest, info.Messages, info.Bytes)
	return err
}

// A formWriter writes a corpus in one form.
type formWriter struct {
	mbox  bool
	write func(ctx context.Context, path string, spec corpus.Spec, p corpus.Progress) (corpus.Info, error)
}

// writerFor writes what a path is called.
func writerFor(path string) formWriter {
	packed := func(pack func(io.Writer) (io.WriteCloser, error)) formWriter {
		return formWriter{true, func(ctx context.Context, path string, spec corpus.Spec, p corpus.Progress) (corpus.Info, error) {
			return corpus.WritePackedMbox(ctx, path, spec, pack, p)
		}}
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".mbox", ".mbx":
		return formWriter{true, corpus.WriteMbox}
	case ".gz":
		return packed(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	case ".zst":
		return packed(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	}
	return formWriter{write: corpus.WriteMaildir}
}

func corpusInfo(c *cli.Context) error {
	path, err := onlyPath(c)
	if err != nil {
		return err
	}
	if corpus.IsSpec(path) {
		spec, err := corpus.Parse(path)
		if err != nil {
			return err
		}
		root, err := cacheDir("corpus")
		if err != nil {
			return err
		}
		made, err := corpus.Cached(context.Background(), root, spec, "maildir", bar.New())
		if err != nil {
			return err
		}
		path = made.Path
	}
	src, err := openSource(c, path)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := stat.Describe(c.App.Writer, src); err != nil {
		return err
	}
	if d, ok := src.(interface{ Damage() error }); ok && d.Damage() != nil {
		return d.Damage() // what could be read is described
	}
	return unread(c, src, "are not described")
}
