package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"mailbench/suite"
)

func planCommand() *cli.Command {
	var cfg suite.Config
	var names, bench string
	return &cli.Command{
		Name:  "plan",
		Usage: "print what a benchmark run will do: rows, time, bytes written, privileges, skipped rows and why",
		Description: "The flags are those of the benchmarks, -bench that of go test. No database is connected to.\n" +
			"Example: mailbench plan -corpus synthetic:367918 -rows all -bench 'Append|Mix'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "corpus", EnvVars: []string{"MAILBENCH_CORPUS"}, Destination: &cfg.Corpus, Usage: "what to run on"},
			&cli.StringFlag{Name: "bench", Destination: &bench, Usage: "rows to plan, as go test -bench chooses them (default: all)"},
			&cli.StringFlag{Name: "designs", EnvVars: []string{"MAILBENCH_DESIGNS"}, Destination: &names, Usage: "comma-separated designs, or all"},
			&cli.StringFlag{Name: "options", EnvVars: []string{"MAILBENCH_OPTIONS"}, Destination: &cfg.Options, Usage: "designs' own options, design.name=value"},
			&cli.StringFlag{Name: "tier", EnvVars: []string{"MAILBENCH_TIER"}, Destination: &cfg.Tiers, Usage: "comma-separated kinds of tier to put in front of fetches"},
			&cli.StringFlag{Name: "stores", EnvVars: []string{"MAILBENCH_STORES"}, Destination: &cfg.Stores, Usage: "comma-separated mail stores, or all; sql is also every database of -dsn"},
			&cli.StringFlag{Name: "dsn", EnvVars: []string{"MAILBENCH_DSN"}, Destination: &cfg.DSNs, Usage: "databases of store sql besides its embedded one, separated by blanks"},
			&cli.StringFlag{Name: "slow", EnvVars: []string{"MAILBENCH_SLOW"}, Destination: &cfg.Slow, Usage: "make files of written mailboxes slow: latency[,bytes/s], as 500us,40MB"},
			&cli.StringFlag{Name: "rows", EnvVars: []string{"MAILBENCH_ROWS"}, Destination: &cfg.Rows, Usage: "default or all"},
			&cli.StringFlag{Name: "index-dir", EnvVars: []string{"MAILBENCH_INDEX_DIR"}, Destination: &cfg.IndexDir, Usage: "directory of the index files"},
			&cli.StringFlag{Name: "scratch", EnvVars: []string{"MAILBENCH_SCRATCH"}, Destination: &cfg.Scratch, Usage: "directory in which mail is written, or several, comma-separated"},
			&cli.IntFlag{Name: "samples", EnvVars: []string{"MAILBENCH_SAMPLES"}, Destination: &cfg.Samples, Usage: "least number of samples of a row"},
			&cli.StringFlag{Name: "metrics", EnvVars: []string{"MAILBENCH_METRICS"}, Destination: &cfg.Metrics, Usage: "default or all"},
			&cli.BoolFlag{Name: "allow-tmpfs", EnvVars: []string{"MAILBENCH_ALLOW_TMPFS"}, Destination: &cfg.AllowTmpfs, Usage: "let index and scratch lie on tmpfs"},
			&cli.StringFlag{Name: "loop-image", EnvVars: []string{"MAILBENCH_LOOP_IMAGE"}, Destination: &cfg.LoopImage, Usage: "let cold rows run in a private file system: true or false (default: with -rows all and no -drop-caches)"},
			&cli.BoolFlag{Name: "drop-caches", EnvVars: []string{"MAILBENCH_DROP_CACHES"}, Destination: &cfg.DropCaches, Usage: "let cold rows drop the caches of the machine"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("plan: unexpected %q: what to run on is -corpus", c.Args().First())
			}
			cfg.Names = names
			return suite.Plan(c.App.Writer, cfg, bench)
		},
	}
}
