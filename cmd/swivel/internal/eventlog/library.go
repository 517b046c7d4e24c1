package eventlog

import (
	stdlog "log"
	"strings"
)

// TakeLibraries has what libraries say through Go's own log become lines of this
// one: net/http, of a handler that panicked or a listener that fails. It is for the
// whole process.
func (l *Log) TakeLibraries() {
	stdlog.SetFlags(0)
	stdlog.SetOutput(library{l})
}

type library struct{ log *Log }

func (w library) Write(p []byte) (int, error) {
	w.log.Warn().Str("text", strings.TrimSpace(string(p))).Msg("a library says")
	return len(p), nil
}
