package storage

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxText bounds what people write, in bytes.
const maxText = 1000

// Pause is an operator's word that a proxy is not to be used. It holds until it
// is cleared, even while the proxy is not on the list.
type Pause struct {
	ProxyID string    // the key
	Reason  string    // one line, may be empty
	By      string    // who asked for it; empty if unknown
	At      time.Time // when
	Drain   bool      // it is put aside to run dry
}

// Validate says why a pause cannot be stored, or nil.
func (p Pause) Validate() error {
	switch {
	case !isID(p.ProxyID):
		return errors.New("pause: proxy " + notAnID)
	case !isLine(p.Reason):
		return fmt.Errorf("pause of %s: reason is not one line of up to %d bytes", p.ProxyID, maxText)
	case !isLine(p.By):
		return fmt.Errorf("pause of %s: who paused it is not one line of up to %d bytes", p.ProxyID, maxText)
	case p.At.IsZero() || !isTime(p.At):
		return fmt.Errorf("pause of %s: time out of range", p.ProxyID)
	}
	return nil
}

// isLine refuses what would break a line of a log or steer a terminal.
func isLine(s string) bool {
	return len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
