package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"swivel/pool"
	"swivel/storage"
)

// maxBody bounds a request body.
const maxBody = 16 << 10

// readBody reads what is asked for, or refuses it and returns false. Nothing at
// all stands for {}. A browser page cannot send JSON to another origin without
// asking first, so its content type is required, with nothing too.
func readBody(w http.ResponseWriter, r *http.Request, body any, example string) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
		return false
	}
	if r.ContentLength > maxBody { // before a client is told to send it
		refuseLong(w)
		return false
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(body)
	if err == io.EOF {
		return true
	}
	if err == nil {
		err = decoder.Decode(new(json.RawMessage))
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		refuseLong(w)
	case err != io.EOF:
		refuse(w, http.StatusBadRequest, "want a JSON object such as "+example)
	default:
		return true
	}
	return false
}

func refuseLong(w http.ResponseWriter) {
	refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is too long: want %d bytes at most", maxBody))
}

// act pauses, drains or resumes a proxy, or all with a tag.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Reason string `json:"reason"`
		By     string `json:"by"`
	}
	if !readBody(w, r, &body, `{"reason": "vendor maintenance"}`) {
		return
	}
	members := s.chosen(r)
	if len(members) == 0 {
		refuse(w, http.StatusNotFound, nobody(r))
		return
	}
	deed := storage.Deed{Action: r.PathValue("action"), Input: body.Reason, Caller: caller(r, body.By), At: time.Now(), Subject: r.PathValue("id")}
	if tag := r.PathValue("tag"); tag != "" {
		deed.Subject = "tag:" + tag
	}
	if allowed(w, deed, body.By) && s.audited(w, deed) {
		s.carryOut(w, deed, members)
	}
}

// allowed refuses what makes no sense.
func allowed(w http.ResponseWriter, d storage.Deed, by string) bool {
	putsAside := d.Action == "pause" || d.Action == "drain"
	switch {
	case !putsAside && d.Action != "resume":
		refuse(w, http.StatusNotFound, "want pause, drain or resume")
	case putsAside && !sayable(d.Input), d.Input != "" && !sayable(d.Input):
		refuse(w, http.StatusBadRequest, "reason: say why in one line of up to 1000 bytes, for whoever looks at it next")
	case by != "" && (len(by) > maxBy || !sayable(by)):
		refuse(w, http.StatusBadRequest, "by: want a name of up to 200 bytes")
	default:
		return true
	}
	return false
}

// maxBy leaves room for an address in what is stored of a caller.
const maxBy = 200

// chosen are the proxies that the path names.
func (s *Server) chosen(r *http.Request) []*pool.Proxy {
	if tag := r.PathValue("tag"); tag != "" {
		return s.pool().Tagged(tag)
	}
	if m, ok := s.pool().Get(pool.ID(r.PathValue("id"))); ok {
		return []*pool.Proxy{m}
	}
	return nil
}

// nobody says that no proxy is what the path names.
func nobody(r *http.Request) string {
	if tag := r.PathValue("tag"); tag != "" {
		return fmt.Sprintf("no proxy has the tag %q", tag)
	}
	return fmt.Sprintf("no proxy has the id %q", r.PathValue("id"))
}

func (s *Server) carryOut(w http.ResponseWriter, d storage.Deed, members []*pool.Proxy) {
	operator := *s.operator.Load()
	var err error
	if d.Action == "resume" {
		err = operator.Resume(members, d.Caller)
	} else {
		err = operator.Pause(members, pool.Pause{Reason: d.Input, By: d.Caller, At: d.At, Drain: d.Action == "drain"})
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "it could not be stored, and was done only where it was; the log says why")
		return
	}
	writeJSON(w, http.StatusOK, described(members, time.Now()))
}

// maxLine is how long a line of the audit log may be, in bytes.
const maxLine = 1000

// sayable says whether a reason fits a line of a log or a table, and can be seen there.
func sayable(reason string) bool {
	return strings.TrimFunc(reason, invisible) != "" && len(reason) <= maxLine && utf8.ValidString(reason) && !strings.ContainsFunc(reason, unicode.IsControl)
}

// invisible says whether a character is a blank or a mark, such as one without width.
func invisible(c rune) bool { return unicode.In(c, unicode.Z, unicode.Cf) }
