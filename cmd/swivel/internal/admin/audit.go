package admin

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"swivel/storage"
)

// Deed is an entry of the audit log in JSON.
type Deed struct {
	At      time.Time `json:"at"`
	Caller  string    `json:"caller"`
	Action  string    `json:"action"`
	Subject string    `json:"subject,omitempty"`
	Input   string    `json:"input,omitempty"`
}

// auditLimit is how many entries are listed unless the client says; maxAudit is
// the most.
const (
	auditLimit = 100
	maxAudit   = 10_000
)

// audit lists what operators had done, the latest first.
func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	limit := auditLimit
	if text := r.URL.Query().Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxAudit {
			refuse(w, http.StatusBadRequest, "limit: want how many entries to list, 1 to 10000")
			return
		}
	}
	deeds, err := (*s.operator.Load()).Deeds(limit)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the audit log cannot be read")
		return
	}
	out := make([]Deed, 0, len(deeds))
	for _, d := range deeds {
		out = append(out, Deed(d))
	}
	writeJSON(w, http.StatusOK, out)
}

// audited stores what is going to be done, or refuses it.
func (s *Server) audited(w http.ResponseWriter, d storage.Deed) bool {
	if err := (*s.operator.Load()).Audit(d); err != nil {
		refuse(w, http.StatusInternalServerError, "it could not be stored, and was not done; the log says why")
		return false
	}
	return true
}

// caller is who asks: the name that was given, which anybody may give, and where
// from.
func caller(r *http.Request, by string) string {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	if by == "" {
		return address
	}
	return by + " (" + address + ")"
}
