package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

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
					"PATH must not exist.\nExample: mailbench corpus generate -format mbox synthetic:1000 list.mbox",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "format", Value: "maildir", Usage: "maildir or mbox"}},
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
	format, err := oneOf(c, "format", "maildir", "mbox")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	write := corpus.WriteMaildir
	if format == "mbox" {
		write = corpus.WriteMbox
	}
	var info corpus.Info
	err = writeWhole(c.Args().Get(1), func(partial string) (err error) {
		info, err = write(ctx, partial, spec, bar.New())
		return err
	})
	if err != nil {
		return fmt.Errorf("corpus generate: %w", err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s\ndigest %s\nmessages %d\nbytes %d\n", spec.Name(), info.Digest, info.Messages, info.Bytes)
	return err
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
