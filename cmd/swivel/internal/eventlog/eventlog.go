// Package eventlog writes what happened: one structured line per exchange, one
// per change of a breaker, and one per incident of the daemon itself. It is the
// only place that formats log fields, so that every line uses the same names.
//
// A Log is safe for concurrent use. No line ever holds a credential: proxies
// appear by their public id and label.
package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"swivel/breaker"
	"swivel/pool"
)

// Log is the daemon's log.
type Log struct {
	zerolog.Logger              // lets everything through
	level          atomic.Int32 // zerolog's; below it nothing is written
	lines          *buffer      // nil: each is written at once
}

// SetLevel makes another level the lowest that is written.
func (l *Log) SetLevel(level string) error {
	parsed, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		return fmt.Errorf("log.level: want debug, info, warn or error, not %q", level)
	}
	l.level.Store(int32(parsed))
	return nil
}

// Debug begins a line of that level, as the following do of theirs; nil, which
// takes everything and writes nothing, if the level is not written.
func (l *Log) Debug() *zerolog.Event { return l.from(zerolog.DebugLevel) }

// Info is for what happens.
func (l *Log) Info() *zerolog.Event { return l.from(zerolog.InfoLevel) }

// Warn is for what somebody should know of.
func (l *Log) Warn() *zerolog.Event { return l.from(zerolog.WarnLevel) }

// Error is for what somebody should mend.
func (l *Log) Error() *zerolog.Event { return l.from(zerolog.ErrorLevel) }

func (l *Log) from(level zerolog.Level) *zerolog.Event {
	if int32(level) < l.level.Load() {
		return nil
	}
	return l.WithLevel(level)
}

// The default has whole seconds, which is too coarse to tell the order of
// attempts. It can only be set for all of the process.
func init() { zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00" }

// New returns a log that writes to w as "json" or as lines for a "console", from
// the given level up ("debug", "info", "warn", "error"). Who logs waits for w.
func New(w io.Writer, format, level string) (*Log, error) {
	return newLog(zerolog.SyncWriter(w), format, level)
}

// NewBuffered is New for a daemon: nobody who logs ever waits for w. Lines are
// written together, within 20 ms, and lost when w stalls and some megabytes of them
// wait already; a line says where, and how many. Close is to be called in the end.
func NewBuffered(w io.Writer, format, level string) (*Log, error) {
	lines := newBuffer(w, func(lost uint64) []byte {
		var line bytes.Buffer
		if log, err := New(&line, format, "warn"); err == nil { // as below
			log.Warn().Uint64("lost", lost).Msg("lines are missing here: who reads the log did not keep up")
		}
		return line.Bytes()
	})
	l, err := newLog(lines, format, level)
	if err != nil {
		return nil, err
	}
	l.lines = lines
	return l, nil
}

func newLog(w io.Writer, format, level string) (*Log, error) {
	l := new(Log)
	err := l.SetLevel(level)
	switch format {
	case "json":
	case "console":
		w = newConsole(w)
	default:
		err = errors.Join(err, fmt.Errorf("log.format: want json or console, not %q", format))
	}
	if err != nil {
		return nil, err
	}
	l.Logger = zerolog.New(w).With().Timestamp().Logger()
	return l, nil
}

// Close writes what waits to be written, but gives a stalled reader no more than a
// second.
func (l *Log) Close() {
	if l.lines != nil {
		l.lines.close()
	}
}

// Lost is how many lines there was no room for so far.
func (l *Log) Lost() uint64 {
	if l.lines == nil {
		return 0
	}
	return l.lines.allLost.Load()
}

// Exchange is one client request, as its log line shows it.
type Exchange struct {
	ID       string
	Kind     string // "connect", "plain" or "socks5"
	Client   string // its address
	User     string // who has authenticated, or tried to as one there is
	Session  string // the id that the client gave its session
	Method   string
	Target   string
	Status   int    // what the client was told
	Code     string // the refusal's code, if it was one
	Reason   string // why the request itself was refused
	Proxy    *pool.Proxy
	Attempts []pool.Attempt
	Opened   time.Duration // until our 200, or until the response's head
	Took     time.Duration
	Up, Down int64 // bytes of content
}

// Exchange writes the line of one exchange.
func (l *Log) Exchange(x Exchange) {
	e := l.Info()
	if !e.Enabled() {
		return
	}
	e = e.Str("request", x.ID).Str("kind", x.Kind).Str("client", x.Client)
	if x.User != "" {
		e = e.Str("user", x.User)
	}
	if x.Session != "" {
		e = e.Str("session", x.Session)
	}
	if x.Method != "" {
		e = e.Str("method", x.Method)
	}
	if x.Target != "" {
		e = e.Str("target", x.Target)
	}
	e = e.Int("status", x.Status)
	if x.Code != "" {
		e = e.Str("code", x.Code)
	}
	if x.Reason != "" {
		e = e.Str("reason", x.Reason)
	}
	if x.Proxy != nil {
		e = name(e, x.Proxy)
	}
	if len(x.Attempts) > 0 {
		e = e.Array("attempts", attemptList(x.Attempts))
	}
	if x.Opened > 0 {
		e = e.Dur("opened_ms", x.Opened)
	}
	e.Dur("took_ms", x.Took).Int64("up", x.Up).Int64("down", x.Down).Msg("exchange")
}

// name says which proxy a line is about.
func name(e *zerolog.Event, p *pool.Proxy) *zerolog.Event {
	var room [80]byte
	return e.Str("proxy", string(p.ID)).Bytes("proxy_name", p.Spec.AppendLabel(room[:0]))
}

// Canary writes what came of the tests that no client asked for.
func (l *Log) Canary(id, target string, attempts []pool.Attempt) {
	l.Debug().Str("request", id).Str("target", target).Array("attempts", attemptList(attempts)).Msg("canary")
}

type attemptList []pool.Attempt

// MarshalZerologArray implements zerolog.LogArrayMarshaler.
func (a attemptList) MarshalZerologArray(out *zerolog.Array) {
	for i := range a {
		out.Object((*attemptLine)(&a[i]))
	}
}

type attemptLine pool.Attempt

// MarshalZerologObject implements zerolog.LogObjectMarshaler.
func (a *attemptLine) MarshalZerologObject(e *zerolog.Event) {
	name(e, a.Proxy).Stringer("signal", a.Signal).Stringer("outcome", a.Outcome).Dur("ms", a.Took)
	if a.Probe {
		e.Bool("probe", true)
	}
	if a.Err != nil {
		e.AnErr("error", a.Err)
	}
}

// Transitions writes a line for each change of state that an event brought.
func (l *Log) Transitions(ev pool.Event) {
	for t := range ev.Effect.Transitions {
		l.transition(ev, t)
	}
}

func (l *Log) transition(ev pool.Event, t breaker.Transition) {
	e := l.Info()
	if t.To == breaker.Open {
		e = l.Warn()
	}
	if ev.Segment != "" {
		e = e.Str("segment", ev.Segment)
	}
	e = name(e, ev.Proxy).
		Stringer("from", t.From).Stringer("to", t.To).Stringer("rule", t.Rule)
	if ev.Signal != pool.NoSignal {
		e = e.Stringer("signal", ev.Signal)
	}
	if t.Failures > 0 {
		e = e.Int("failures", t.Failures)
	}
	if t.Samples > 0 {
		e = e.Float64("rate", math.Round(t.Rate*100)/100).Int("samples", t.Samples)
	}
	if t.To == breaker.Open {
		e = e.Dur("rest_ms", t.Until.Sub(t.At))
	}
	if ev.Fleet {
		e = e.Bool("fleet", true)
	}
	e.Str("request", ev.Request).Msg("breaker")
}

// Outage writes what the guard against local outages found.
func (l *Log) Outage(ev pool.Event) {
	switch ev.Outage {
	case pool.OutageBegan:
		l.Warn().Str("request", ev.Request).
			Msg("all working proxies fail at once: this machine's network is probably down; failures are not counted, one request a second tries")
	case pool.OutageEnded:
		l.Info().Str("request", ev.Request).Msg("the network is back")
	case pool.OutageGivenUp:
		l.Warn().Msg("nothing has worked for a whole window: the proxies may really be down, failures count again")
	}
}

// Panic reports a bug that ended one client's connection.
func (l *Log) Panic(client net.Addr, value any, stack []byte) {
	l.Error().Stringer("client", client).Str("panic", fmt.Sprint(value)).Bytes("stack", stack).
		Msg("a bug in swivel ended this client's connection; please report it")
}

// AcceptFailed reports that new clients are sent away, or have to wait.
func (l *Log) AcceptFailed(err error, pause time.Duration) {
	l.Error().Err(err).Dur("pause_ms", pause).Msg("cannot serve more connections: raise the limit of open files (ulimit -n)")
}

// HandshakeFailed reports that a client and swivel could not agree on TLS.
func (l *Log) HandshakeFailed(client net.Addr, err error) {
	l.Warn().Stringer("client", client).Err(err).Msg("TLS with a client came to nothing")
}
