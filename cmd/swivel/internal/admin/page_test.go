package admin

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestPageIsServedWithoutATokenAndLoadsNothingFromElsewhere(t *testing.T) {
	r := newRigWith(t, token, "127.0.0.1:1 name=a")
	files, err := fs.Glob(pageFiles, "page/*")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|<script>|<style| style=| on[a-z]+="`)
	for _, path := range append(files, "") {
		response, err := http.Get(r.base + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		policy := response.Header.Get("Content-Security-Policy")
		if response.StatusCode != 200 || !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || response.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %s %v", path, response.Status, response.Header)
		}
		again, err := http.NewRequestWithContext(t.Context(), "GET", r.base+"/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		again.Header.Set("If-None-Match", response.Header.Get("ETag"))
		if response, err = http.DefaultTransport.RoundTrip(again); err != nil || response.StatusCode != 304 {
			t.Errorf("%s again: %v, %v", path, response.Status, err)
		}
		_ = response.Body.Close()
		if path == "" {
			continue
		}
		text, _ := pageFiles.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "http://www.w3.org/2000/svg") || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			if found := elsewhere.FindString(line); found != "" {
				t.Errorf("%s holds %q in %s", path, found, line)
			}
		}
	}
}
