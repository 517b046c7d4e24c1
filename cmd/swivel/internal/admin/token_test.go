package admin

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/pool"
)

const token = "0123456789abcdefXYZ"

func TestTokenIsAskedForEverythingButHealth(t *testing.T) {
	r := newRigWith(t, token, "127.0.0.1:1 name=a tag=x")
	for field, want := range map[string]bool{
		"Bearer " + token: true, "bearer " + token: true, "BEARER  " + token: true,
		"": false, "Bearer": false, "Bearer ": false, token: false, "Basic " + token: false, "Bearer " + token + " ": true, // net/http trims the field
		"Bearer " + token + "x": false, "Bearer " + token[1:]: false, "Bearer " + strings.ToLower(token): false, "Bearer " + token + ",": false,
	} {
		as := func(q *http.Request) { q.Header.Set("Authorization", field) }
		for _, ask := range []string{"GET /api/v1/proxies", "GET /metrics", "GET /api/v1/explain?target=a.test", "POST /api/v1/tags/x/resume", "POST /api/v1/reload"} {
			method, path, _ := strings.Cut(ask, " ")
			status, text := r.ask(t, method, path, `{}`, as)
			if (status != 401) != want || status == 401 && !strings.Contains(text, `"error"`) {
				t.Errorf("%s with %q: %d %s", ask, field, status, text)
			}
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, _ := r.ask(t, "GET", path, "", as); status != 200 {
				t.Errorf("%s with %q: %d: whoever watches over processes has no token", path, field, status)
			}
		}
	}
}

func TestGuessesAreTold(t *testing.T) {
	r := newRigWith(t, token, "127.0.0.1:1 name=a")
	for _, shown := range []pool.Secret{"", "wrong", token, token + "x"} {
		r.ask(t, "GET", "/api/v1/proxies", "", func(q *http.Request) { Authorize(q, shown) })
	}
	if told := r.took(); len(told) != 2 || told[0] != "wrong token" {
		t.Errorf("%q", told)
	}
}

// A page that makes its own name resolve to this machine has no token to send,
// and operators who come from afar come by names.
func TestAnyNameIsFineWithAToken(t *testing.T) {
	r := newRigWith(t, token, "127.0.0.1:1 name=a")
	for shown, want := range map[string]int{token: 200, "": 401} {
		status, _ := r.ask(t, "GET", "/api/v1/proxies", "", func(q *http.Request) {
			q.Host = "swivel.internal:8485"
			Authorize(q, pool.Secret(shown))
		})
		if status != want {
			t.Errorf("token %q: %d", shown, status)
		}
	}
}

func TestReadToken(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		token pool.Secret
		file  string
		want  pool.Secret
		err   string // how it begins
	}{
		{},
		{token: token, want: token},
		{file: file(token + "\r\n"), want: token},
		{token: token, file: file(token), err: "admin_token: want either"},
		{token: "hush-short", err: "admin_token: want at least 16"},
		{token: "hush hush hush hush", err: "admin_token: want at least 16"},
		{token: "hush-hush-hush-häsh", err: "admin_token: want at least 16"},
		{file: file("\n"), err: "admin_token_file: "},
		{file: file("hush-hush-hush-1\nhush-hush-hush-2"), err: "admin_token_file: "},
		{file: filepath.Join(t.TempDir(), "missing"), err: "admin_token_file: cannot read"},
	} {
		got, err := ReadToken(c.token, c.file)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && (!strings.HasPrefix(err.Error(), c.err) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%q, %s: %q, %v", c.token.Reveal(), c.file, got.Reveal(), err)
		}
	}
}
