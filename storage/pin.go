package storage

import (
	"errors"
	"fmt"
	"time"
)

// Pin says which proxy a client's session has.
type Pin struct {
	SessionID string // opaque id; the key
	ProxyID   string
	LastUse   time.Time
	TTL       time.Duration // how long the session is kept after its last use
}

// Validate says why a pin cannot be stored, or nil.
func (p Pin) Validate() error {
	switch {
	case !isID(p.SessionID):
		return errors.New("pin: session " + notAnID)
	case !isID(p.ProxyID):
		return fmt.Errorf("pin of %s: proxy %s", p.SessionID, notAnID)
	case p.LastUse.IsZero() || !isTime(p.LastUse):
		return fmt.Errorf("pin of %s: time out of range", p.SessionID)
	case p.TTL <= 0:
		return fmt.Errorf("pin of %s: no time to live", p.SessionID)
	}
	return nil
}

// Over says whether the session has ended by now.
func (p Pin) Over(now time.Time) bool { return now.Sub(p.LastUse) > p.TTL }
