package storage

import (
	"errors"
	"time"
)

// Deed is what an operator had done: who, when, what, to what, and in what words.
type Deed struct {
	At      time.Time
	Caller  string // the name that was given, and the address; or signal
	Action  string // pause, resume, drain, reload, ban
	Subject string // the id of a proxy, or tag:NAME; "" for all
	Input   string // the reason that was given, or what a report said
}

// Validate says why a deed cannot be stored, or nil.
func (d Deed) Validate() error {
	switch {
	case d.At.IsZero() || !isTime(d.At):
		return errors.New("audit: time out of range")
	case d.Caller == "" || d.Action == "":
		return errors.New("audit: it is not said who did what")
	case !isLine(d.Caller) || !isLine(d.Action) || !isLine(d.Subject) || !isLine(d.Input):
		return errors.New("audit: want single lines of up to 1000 bytes")
	}
	return nil
}
