package admin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// isAPI says whether who asks reads JSON, errors too.
func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// fault answers with an error in the form of the path that was asked for.
func fault(w http.ResponseWriter, r *http.Request, status int, text string) {
	if isAPI(r) {
		refuse(w, status, text)
		return
	}
	http.Error(w, text, status)
}

// refuse is how the API says that it does not do what is asked for.
func refuse(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// unserved says as the API does what [http.ServeMux] says, in plain text, of a path
// or a method that it has nobody for. The field Allow stays.
type unserved struct{ http.ResponseWriter }

// WriteHeader writes all of the answer.
func (u unserved) WriteHeader(status int) {
	text := "there is no such path; /openapi.yaml has all that there are"
	if allowed := u.Header().Get("Allow"); status == http.StatusMethodNotAllowed {
		text = "this path takes " + allowed
	}
	refuse(u.ResponseWriter, status, text)
}

// Write leaves the plain text out.
func (u unserved) Write(text []byte) (int, error) { return len(text), nil }
