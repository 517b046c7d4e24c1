package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/systemd"
)

// The exit codes.
const (
	exitOK      = 0
	exitRuntime = 1
	exitUsage   = 2 // also for a configuration that does not hold
)

// cli is the command line.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve clients through the proxies of a list."`
	Demo    demoCmd    `cmd:"" help:"Serve through five toy proxies inside this process: no list, no account, no network needed."`
	Config  configCmd  `cmd:"" help:"Work with the configuration."`
	Check   checkCmd   `cmd:"" help:"Try every proxy of a list, and say which are alive and what they speak."`
	Status  statusCmd  `cmd:"" help:"Show the pool of a running daemon."`
	Explain explainCmd `cmd:"" help:"Say who would serve a request, and who would not and why."`
	Pause   pauseCmd   `cmd:"" help:"Take proxies out of use until they are resumed."`
	Drain   drainCmd   `cmd:"" help:"Give proxies nothing new until they are resumed, and let finish what they have."`
	Resume  resumeCmd  `cmd:"" help:"Put proxies back into use."`
	Reload  reloadCmd  `cmd:"" help:"Have a running daemon read its lists, users and configuration again."`
	Version versionCmd `cmd:"" help:"Print the version."`

	VersionFlag kong.VersionFlag `name:"version" hidden:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print what makes a shell complete commands and flags."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`
}

// streams are where a command reads its environment and writes to.
type streams struct {
	in     io.Reader
	env    func(string) (string, bool)
	names  []string // of all variables, as os.Environ has them
	out    io.Writer
	errOut io.Writer
}

// exit is what kong's --help unwinds with.
type exit int

// run is main with its surroundings as arguments.
func run(args []string, env func(string) (string, bool), out, errOut io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			if c, ok := r.(exit); ok {
				code = int(c)
				return
			}
			panic(r)
		}
	}()
	var c cli
	parser, err := kong.New(&c, kong.Name("swivel"), kong.UsageOnError(),
		kong.Description("A local forward proxy that sends every request through one healthy proxy of a pool.\n\n"+
			"Every key of the configuration file is also an environment variable: SWIVEL_SECTION_KEY."),
		kong.Vars{"version": versionText()}, kong.NamedMapper("configfile", kong.MapperFunc(configFile)),
		kong.Writers(out, errOut), kong.Exit(func(code int) { panic(exit(code)) }))
	if err != nil {
		return report(errOut, err)
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintf(errOut, "swivel: %s\n%s\n", argumentProblem(err), whereToLook(err))
		return exitUsage
	}
	return report(errOut, ctx.Run(streams{os.Stdin, env, os.Environ(), out, errOut}))
}

// whereToLook is what to try after arguments that cannot be used: the help of the
// command that they are for.
func whereToLook(err error) string {
	command := ""
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		for _, step := range wrong.Context.Path {
			if step.Command != nil {
				command = step.Command.Path() + " "
			}
		}
		if args := wrong.Context.Args; command == "" && len(args) > 0 && strings.HasPrefix(args[0], "-") {
			return "Flags come behind a command, such as 'swivel serve'. Try 'swivel --help'."
		}
	}
	return "Try 'swivel " + command + "--help'."
}

// usageError is a problem that the user has to mend in arguments or
// configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// report prints an error, a line for each problem, and gives the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	for _, e := range flatten(err) {
		_, _ = fmt.Fprintf(w, "swivel: %v\n", e)
	}
	var usage usageError
	var list *daemon.ListError
	if errors.As(err, &usage) || errors.As(err, &list) {
		return exitUsage
	}
	return exitRuntime
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, flatten(one)...)
		}
		return all
	case usageError:
		return flatten(e.error)
	case *daemon.ListError:
		return flatten(e.Err)
	}
	return []error{err}
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM; a
// second one ends the process at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitRuntime)
	}()
	return ctx, cancel
}

// logVariables is warnOfVariables for the log.
func logVariables(log *eventlog.Log, s streams) {
	for _, warning := range config.Misspelt(s.names) {
		log.Warn().Msg(warning)
	}
}

// serve runs a daemon until a signal. Reloads read the configuration again.
func serve(ctx context.Context, cfg config.Config, again func() (config.Config, error), sockets systemd.Sockets, s streams) error {
	log, err := eventlog.NewBuffered(s.errOut, cfg.Log.Format, cfg.Log.Level)
	if err != nil {
		return usageError{err}
	}
	defer log.Close()
	log.TakeLibraries()
	logVariables(log, s)
	// From here on: a SIGHUP that comes while the lists are read for the first time
	// would end the process. It is answered by a reload when all is there.
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, syscall.SIGHUP)
	defer signal.Stop(reloads)
	d, err := open(ctx, cfg, sockets, log)
	switch {
	case err != nil && ctx.Err() != nil:
		log.Info().Msg("stopped before it served")
		return nil
	case err != nil:
		return err
	}
	d.ReadConfigWith(again)
	go func() {
		for {
			select {
			case <-reloads:
				systemd.Reloading()
				d.ReloadOnSignal()
				systemd.Ready()
			case <-ctx.Done():
				return
			}
		}
	}()
	return d.Run(ctx)
}

// openPatience is what a start has to end by itself once a signal has come.
const openPatience = time.Second

// open opens the daemon until ctx ends: not everything that a start waits for, such
// as a list that is a pipe, hears of that. What it had begun ends with the process.
func open(ctx context.Context, cfg config.Config, sockets systemd.Sockets, log *eventlog.Log) (*daemon.Daemon, error) {
	type opened struct {
		d   *daemon.Daemon
		err error
	}
	done := make(chan opened, 1)
	go func() {
		d, err := daemon.Open(ctx, cfg, sockets, log)
		done <- opened{d, err}
	}()
	select {
	case o := <-done:
		return o.d, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.d, o.err
	case <-time.After(openPatience):
		return nil, ctx.Err()
	}
}
