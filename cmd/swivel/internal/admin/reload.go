package admin

import (
	"net/http"
	"strings"
	"time"

	"swivel/storage"
)

// Reloaded says in JSON what a reload did.
type Reloaded struct {
	Added      int `json:"added"`
	Kept       int `json:"kept"`
	Removed    int `json:"removed"`
	Skipped    int `json:"skipped"`     // lines that cannot be used
	Merged     int `json:"merged"`      // exact duplicates
	OwnAddress int `json:"own_address"` // proxies that are this daemon itself
	// Reasons says of how many lines each reason was given.
	Reasons map[string]int `json:"reasons,omitempty"`
	// Stale says of which lists an earlier state is used, and why.
	Stale []string `json:"stale,omitempty"`
	// RestartNeeded are the keys of the configuration that have changed, and
	// that take a restart.
	RestartNeeded []string `json:"restart_needed,omitempty"`
}

// reload reads the lists again, and what else the daemon reads again.
func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	var body struct {
		By string `json:"by"`
	}
	if !readBody(w, r, &body, `{}`) {
		return
	}
	operator := *s.operator.Load()
	if operator.Stopping() {
		refuse(w, http.StatusConflict, "swivel is stopping")
		return
	}
	if body.By != "" && (len(body.By) > maxBy || !sayable(body.By)) {
		refuse(w, http.StatusBadRequest, "by: want a name of up to 200 bytes")
		return
	}
	if !s.audited(w, storage.Deed{At: time.Now(), Caller: caller(r, body.By), Action: "reload"}) {
		return
	}
	// Lists may be fetched, each within its own time.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	done, err := operator.Reload()
	if err != nil {
		// That it was asked for stands there already.
		_ = operator.Audit(ReloadRefused(caller(r, body.By), err, time.Now()))
		refuse(w, http.StatusUnprocessableEntity, oneLine(err))
		return
	}
	writeJSON(w, http.StatusOK, done)
}

// ReloadRefused is what the audit log has behind a reload that was asked for, and of
// which something was refused. Of many reasons it has the first: its lines are short.
func ReloadRefused(caller string, why error, now time.Time) storage.Deed {
	text := oneLine(why)
	if len(text) > maxLine {
		const more = "…"
		text = strings.ToValidUTF8(text[:maxLine-len(more)], "") + more
	}
	return storage.Deed{At: now, Caller: caller, Action: "reload_refused", Input: text}
}

// oneLine puts joined errors into one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
