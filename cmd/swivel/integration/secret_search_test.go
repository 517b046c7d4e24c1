package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
)

// TestSearchFindsPlantedSecrets: a search that finds nothing proves something
// only if it would have found what there is.
func TestSearchFindsPlantedSecrets(t *testing.T) {
	s := newSecret("Planted")
	asJSON, err := json.Marshal(map[string]string{"proxy": s.userinfo(), "password": s.password})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plain":              "dial http://" + s.user + ":" + s.password + "@10.0.0.1:80 failed",
		"Go-quoted":          fmt.Sprintf("%q", s.password),
		"JSON":               string(asJSON),
		"user info of a URI": "http://" + s.userinfo() + "@10.0.0.1",
		"query-escaped":      "?p=" + url.QueryEscape(s.password),
		"Basic credentials":  "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(s.user+":"+s.password)),
		"base64 of bytes":    base64.URLEncoding.EncodeToString([]byte(s.password)),
		"hexadecimal":        fmt.Sprintf("%x", s.password),
		"printed as bytes":   fmt.Sprintf("% X|%X", s.password, s.password),
		"amid binary":        "\x00\x01SQLite\x00" + s.password + "\x00",
	} {
		if s.foundIn([]byte(text)) == "" {
			t.Errorf("%s: not found in %q", name, text)
		}
	}
	if form := newSecret("Other").foundIn(asJSON); form != "" {
		t.Errorf("a secret that is not there was found %s", form)
	}
}
