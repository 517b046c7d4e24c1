package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/certificate"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/systemd"
	"swivel/pool"
	"swivel/pool/spelling"
)

// settings are the flags that change the configuration. A flag that is not
// given changes nothing.
type settings struct {
	Config         string           `help:"Configuration file (YAML)." type:"configfile" placeholder:"FILE" env:"SWIVEL_CONFIG"`
	Listen         *string          `help:"Address that clients connect to (default 127.0.0.1:8484)." placeholder:"HOST:PORT"`
	Admin          *string          `help:"Address of the admin API, or off (default 127.0.0.1:8485)." placeholder:"HOST:PORT"`
	DB             *string          `name:"db" help:"Database file, or :memory: to keep nothing (default swivel.db)." placeholder:"FILE"`
	Grace          *config.Duration `help:"What exchanges get to finish when stopping (default 10s)." placeholder:"DURATION"`
	AllowOpenProxy *bool            `help:"Serve anyone who can reach a listen address that is not loopback."`
	User           []string         `help:"A client that is served, with the bcrypt hash of its password (htpasswd -nB NAME); may be repeated. Without any, all are." sep:"none" placeholder:"NAME:HASH"`
	UsersFile      *string          `help:"File with such clients, as htpasswd -B makes it." type:"path" placeholder:"FILE"`
	TLSCert        *string          `name:"tls-cert" help:"Speak TLS to clients, and show them this certificate, in PEM with those of its authority behind it." type:"path" placeholder:"FILE"`
	TLSKey         *string          `name:"tls-key" help:"Its private key, in PEM." type:"path" placeholder:"FILE"`
	Fleet          *string          `help:"Redis over which instances share what they know. An address with a password does better in SWIVEL_FLEET: others can see arguments." placeholder:"URL"`
	LogFormat      *string          `help:"json or console." placeholder:"FORMAT"`
	LogLevel       *string          `help:"debug, info, warn or error." placeholder:"LEVEL"`
}

// load is read, and reports at once what is wrong with the files that are named
// too.
func (f *settings) load(s streams, defaults config.Config, adjust func(*config.Config)) (config.Config, error) {
	c, err := f.read(s, defaults, adjust)
	_, usersErr := auth.Read(c.Users, c.UsersFile)
	var certErr error
	if c.TLSCert != "" && c.TLSKey != "" {
		_, certErr = certificate.Read(c.TLSCert, c.TLSKey)
	}
	if err := errors.Join(err, usersErr, certErr); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// read makes the configuration of defaults, file, environment and flags, and
// reports all that is wrong with it at once. A reload needs no more: it reads the
// files of users and of the certificate itself, and may refuse one of them alone.
func (f *settings) read(s streams, defaults config.Config, adjust func(*config.Config)) (config.Config, error) {
	c, err := config.Load(defaults, f.Config, s.env)
	override(&c.Listen, f.Listen)
	override(&c.Admin, f.Admin)
	override(&c.DB, f.DB)
	override(&c.AllowOpenProxy, f.AllowOpenProxy)
	override(&c.UsersFile, f.UsersFile)
	override(&c.TLSCert, f.TLSCert)
	override(&c.TLSKey, f.TLSKey)
	if len(f.User) > 0 {
		c.Users = f.User
	}
	if f.Fleet != nil {
		c.Fleet = pool.Secret(*f.Fleet)
	}
	override(&c.Log.Format, f.LogFormat)
	override(&c.Log.Level, f.LogLevel)
	override(&c.Grace, f.Grace)
	if adjust != nil {
		adjust(&c)
	}
	if config.Misread(err, "") {
		return c, usageError{err} // what it may have said is not to be missed
	}
	_, tokenErr := admin.ReadToken(c.AdminToken, c.AdminTokenFile)
	_, logErr := eventlog.New(io.Discard, c.Log.Format, c.Log.Level)
	known := c
	if slices.ContainsFunc([]string{"users", "users_file", "allow_open_proxy"}, func(key string) bool { return config.Misread(err, key) }) {
		known.AllowOpenProxy = true // the file says who may come in, if not so that it can be understood
	}
	if err := errors.Join(err, known.Validate(), tokenErr, logErr); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

func override[T any](to *T, flag *T) {
	if flag != nil {
		*to = *flag
	}
}

type serveCmd struct {
	settings
	Proxies []string `help:"Proxy list, a file or a URL; may be repeated." placeholder:"LIST"`
}

// Run serves until a signal.
func (c *serveCmd) Run(s streams) error {
	sockets, err := systemd.Inherited()
	if err != nil {
		return usageError{err}
	}
	adjust := func(cfg *config.Config) {
		c.lists(cfg)
		sockets.Override(cfg)
	}
	cfg, err := c.load(s, config.Default(), adjust)
	if err != nil {
		return err
	}
	again := func() (config.Config, error) { return c.read(s, config.Default(), adjust) }
	ctx, cancel := untilSignal()
	defer cancel()
	return serve(ctx, cfg, again, sockets, s)
}

func (c *serveCmd) lists(cfg *config.Config) {
	if len(c.Proxies) > 0 {
		cfg.Proxies = c.Proxies
	}
}

type configCmd struct {
	Print configPrintCmd `cmd:"" help:"Print the configuration as it would be in force, without its secrets, and where each value comes from."`
	Check configCheckCmd `cmd:"" help:"Check configuration and proxy lists, and say everything that is wrong."`
}

type configCheckCmd struct {
	settings
	Proxies []string `help:"Proxy list, a file or a URL; may be repeated." placeholder:"LIST"`
}

// Run checks without opening anything but files.
func (c *configCheckCmd) Run(s streams) error {
	serveFlags := serveCmd{Proxies: c.Proxies}
	cfg, err := c.load(s, config.Default(), serveFlags.lists)
	var lists daemon.Lists
	var listErr error
	if len(cfg.Proxies) > 0 || !config.Misread(err, "proxies") { // else there may well be one
		lists, listErr = daemon.LookAtLists(cfg.Proxies, cfg.BreakerSettings(), cfg.DB)
	}
	var own []*pool.Spec
	if err == nil && listErr == nil { // else it is not known where it will listen
		own, listErr = lists.DropSelf(cfg)
	}
	warnOfVariables(s.out, s)
	for _, p := range own {
		_, _ = fmt.Fprintf(s.out, "warning: %s is not used: its address, %s, is swivel's own\n", p.Label(), p.Address())
	}
	for _, skipped := range lists.Skipped {
		_, _ = fmt.Fprintln(s.out, skipped.Error())
	}
	if len(lists.Skipped) > 1 {
		_, _ = fmt.Fprintln(s.out, "skipped: "+lists.Summary())
	}
	if listErr != nil {
		listErr = usageError{listErr}
	}
	if err := errors.Join(err, listErr); err != nil {
		return err
	}
	for _, stale := range lists.Stale {
		_, _ = fmt.Fprintf(s.out, "warning: %v: what it said last is used\n", stale)
	}
	for _, note := range lists.Notes {
		_, _ = fmt.Fprintln(s.out, note)
	}
	if pair, err := certificate.Read(cfg.TLSCert, cfg.TLSKey); err == nil {
		if concern := certificate.Concern(pair, time.Now()); concern != "" {
			_, _ = fmt.Fprintln(s.out, "warning: tls_cert: "+concern)
		}
	}
	_, _ = fmt.Fprintf(s.out, "ok: %s, %s\n", spelling.Counted(len(lists.Specs), "proxy", "proxies"), leftOut(len(lists.Skipped), lists.Merged))
	return nil
}

type configPrintCmd struct {
	settings
	Proxies []string `help:"Proxy list, a file or a URL; may be repeated." placeholder:"LIST"`
}

// Run prints also what does not hold, and then says so; not among what is printed,
// which may become a file.
func (c *configPrintCmd) Run(s streams) error {
	serveFlags := serveCmd{Proxies: c.Proxies}
	cfg, err := c.load(s, config.Default(), serveFlags.lists)
	cfg.Proxies = daemon.ListLabels(cfg.Proxies)
	text, printErr := cfg.Print(config.Origins{File: c.Config, Env: s.env, Flags: map[string]bool{
		"listen": c.Listen != nil, "admin": c.Admin != nil, "db": c.DB != nil, "grace": c.Grace != nil, "users": len(c.User) > 0,
		"allow_open_proxy": c.AllowOpenProxy != nil, "users_file": c.UsersFile != nil, "tls_cert": c.TLSCert != nil, "tls_key": c.TLSKey != nil, "proxies": len(c.Proxies) > 0,
		"fleet": c.Fleet != nil, "log.format": c.LogFormat != nil, "log.level": c.LogLevel != nil,
	}})
	_, _ = s.out.Write(text)
	warnOfVariables(s.errOut, s)
	return errors.Join(err, printErr)
}

// warnOfVariables says which variables have no effect.
func warnOfVariables(w io.Writer, s streams) {
	for _, warning := range config.Misspelt(s.names) {
		_, _ = fmt.Fprintln(w, "warning: "+warning)
	}
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(s streams) error {
	_, err := fmt.Fprintln(s.out, versionText())
	return err
}

func versionText() string { return "swivel " + version() }

// release is the version that the linker was told.
var release string

// version is the release's, the module's, or the commit it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel " + s.Value[:12]
		}
	}
	return "devel"
}
