package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitOK      = 0
	exitRuntime = 1 // also when a proxy failed, or swivel grows or loses count
	exitUsage   = 2
)

// cli is the command line.
type cli struct {
	Peers peersCmd `cmd:"" help:"Compare swivel with HAProxy, squid and tinyproxy."`
	Soak  soakCmd  `cmd:"" help:"Keep swivel busy with all kinds of clients and bad proxies, and look whether it grows and everything adds up."`
}

// surroundings are what a command works in.
type surroundings struct {
	ctx context.Context
	out io.Writer // results
	log io.Writer // progress
}

// exit is what kong's --help unwinds with.
type exit int

// run is main with its surroundings as arguments.
func run(ctx context.Context, args []string, out, errOut io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			c, ok := r.(exit)
			if !ok {
				panic(r)
			}
			code = int(c)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("swivel-bench"),
		kong.Description("Measures a built swivel from outside, on the loopback of this machine. Everything it starts ends with it."),
		kong.Writers(out, errOut), kong.Exit(func(code int) { panic(exit(code)) }))
	if err != nil {
		return report(errOut, err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(errOut, "swivel-bench: %v\nTry 'swivel-bench --help'.\n", err)
		return exitUsage
	}
	return report(errOut, command.Run(surroundings{ctx, out, errOut}))
}

func report(w io.Writer, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(w, "swivel-bench: interrupted")
	default:
		_, _ = fmt.Fprintf(w, "swivel-bench: %v\n", err)
	}
	return exitRuntime
}
