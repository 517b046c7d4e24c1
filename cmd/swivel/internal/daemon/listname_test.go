package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/breaker"
)

func TestProxyInPlaceOfItsListWasShownWithItsPassword(t *testing.T) {
	for _, names := range [][]string{
		{"socks5://u:s3cret@127.0.0.1:1"}, {"u:s3cret@h:1"}, {"h:1:u:s3cret"}, {"h:99999:u:s3cret"}, {"u:s3cret:h:1"}, {"h 1 u s3cret"}, {"socks5 h 1 u s3cret"},
		{"ftp://u:s3cret@h/x"}, {"ftp://h/s3cret"}, {"https//h/s3cret"}, {"https:/h/s3cret"}, {"vendor.example/list?key=s3cret"}, {"key=s3cret"},
		{`"https://h/x?k=s3cret"`}, {`'https://h/s3cret'`}, {`"https://h/x?k=1`, `s3cret"`}, {"vendor.example/list?ids=1", "2", "s3cret"},
	} {
		_, err := ReadLists(names, breaker.DefaultSettings())
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "proxies: list 1: no such file") || !strings.Contains(err.Error(), "proxies stand in a file") {
			t.Errorf("%q: %v", names, err)
		}
		if text := strings.Join(ListLabels(names), " "); strings.Contains(text, "s3cret") {
			t.Errorf("%q: %s", names, text)
		}
	}
}

func TestTailOfAURLBehindACommaWasShown(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n")
	names := []string{v.url, "k=s3cret", "s3cret", "s3cret/list"}
	_, err := ReadLists(names, breaker.DefaultSettings())
	if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Count(err.Error(), "written %2C") != 3 {
		t.Error(err)
	}
	if got := strings.Join(ListLabels(names), " "); got != v.URL+"/… REDACTED REDACTED REDACTED" {
		t.Error(got)
	}
}

func TestFilesStayReadable(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "eu@vendor:1 k=v.txt") // nothing is wrong with it, as it exists
	if err := os.WriteFile(odd, []byte("192.0.2.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if lists, err := ReadLists([]string{"http://", odd}, breaker.DefaultSettings()); len(lists.Specs) != 1 {
		t.Error(err)
	}
	plain := filepath.Join(dir, "my proxies 2.txt")
	names := []string{plain, "proxies.txt", "../a b/c", odd}
	if got := ListLabels(names); strings.Join(got, "|") != strings.Join(names, "|") {
		t.Errorf("%q", got)
	}
	if _, err := ReadLists([]string{plain}, breaker.DefaultSettings()); err == nil || err.Error() != "proxies: "+plain+": no such file or directory" {
		t.Error(err)
	}
}

func TestSchemeInCapitalsWasTakenForAFile(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n")
	url := strings.Replace(v.url, "http://", "HTTP://", 1)
	if lists, err := ReadLists([]string{url}, breaker.DefaultSettings()); err != nil || len(lists.Specs) != 1 {
		t.Errorf("%d proxies, %v", len(lists.Specs), err)
	}
	if got := ListLabels([]string{url, "HTTPS://u:s3cret@h/s3cret"}); got[0] != v.URL+"/…" || got[1] != "https://h/…" {
		t.Errorf("%q", got)
	}
}
