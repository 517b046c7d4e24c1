package admin

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

// pageFiles are the dashboard: plain files, without a step that builds them, and
// without anything from elsewhere.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load what is beside it and nothing else, run no
// script that stands in a text, and be framed by nobody.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageTypes are said and not asked of the system, whose tables differ.
var pageTypes = map[string]string{
	".yaml": "application/yaml",
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// openAPIText describes the API.
//
//go:embed openapi.yaml
var openAPIText []byte

// servePage sends a file of the dashboard.
func servePage(w http.ResponseWriter, r *http.Request, name string) {
	text, err := pageFiles.ReadFile(path.Join("page", path.Base(name)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	serveFile(w, r, name, text)
}

// serveFile sends what is part of the program. Browsers ask each time whether
// they still have the right one: after an update of swivel they do not.
func serveFile(w http.ResponseWriter, r *http.Request, name string, text []byte) {
	hash := sha256.Sum256(text)
	head := w.Header()
	head.Set("Content-Type", pageTypes[path.Ext(name)])
	head.Set("ETag", `"`+hex.EncodeToString(hash[:8])+`"`)
	head.Set("Cache-Control", "no-cache")
	head.Set("Content-Security-Policy", pagePolicy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
}
