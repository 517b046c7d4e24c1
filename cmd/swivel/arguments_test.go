package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestPasswordInAnArgumentWasShown(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "socks5://u:s3cret@h:1"}, "swivel: unexpected argument REDACTED\n"},
		{[]string{"https://h/s3cret"}, "swivel: unexpected argument https://h/…\n"},
		{[]string{"serve", "proxies.txt"}, "swivel: unexpected argument proxies.txt\n"},
		{[]string{"stats"}, "swivel: unexpected argument stats, did you mean \"status\"?\n"},
		{[]string{"status", "--admin", "u:s3cret@127.0.0.1:1"}, "swivel: status: admin: want HOST:PORT\n"},
		{[]string{"status", "--admin", "s3cret@127.0.0.1:1"}, "swivel: status: admin: want HOST:PORT\n"},
		{[]string{"status", "--admin", "http://s3cret"}, "swivel: status: admin: want HOST:PORT\n"},
		{[]string{"explain", "h", "--user", "alice-country-de:s3cret"}, "swivel: explain: user: want the name alone, "},
	} {
		var out, errOut bytes.Buffer
		code := run(c.args, none, &out, &errOut)
		if text := out.String() + errOut.String(); code != exitUsage || !strings.HasPrefix(text, c.want) || strings.Contains(text, "s3cret") {
			t.Errorf("%q: exit code %d: %s", c.args, code, text)
		}
	}
}

func TestEmptySWIVEL_CONFIGWasTakenForTheWorkingDirectory(t *testing.T) {
	t.Setenv("SWIVEL_CONFIG", "")
	none := func(string) (string, bool) { return "", false }
	var out, errOut bytes.Buffer
	if code := run([]string{"config", "print"}, none, &out, &errOut); code != exitOK || errOut.Len() > 0 {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	t.Setenv("SWIVEL_CONFIG", write(t, "swivel.yaml", "listen: 127.0.0.1:9\n"))
	if code := run([]string{"config", "print"}, none, &out, &errOut); code != exitOK || !strings.Contains(out.String(), "listen: 127.0.0.1:9 # ") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
}
