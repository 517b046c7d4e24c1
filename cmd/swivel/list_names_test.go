package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestProxyGivenForAListLeakedFromEveryCommand(t *testing.T) {
	file := write(t, "swivel.yaml", "admin: off\nproxies: ['socks5://u:s3cret@127.0.0.1:1']\n")
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"variable":     {map[string]string{"SWIVEL_PROXIES": "socks5://u:s3cret@127.0.0.1:1"}, []string{"serve", "--db", ":memory:", "--listen", "127.0.0.1:0", "--admin", "off"}},
		"flag":         {nil, []string{"serve", "--db", ":memory:", "--listen", "127.0.0.1:0", "--admin", "off", "--proxies", "h:1:u:s3cret"}},
		"file":         {nil, []string{"config", "check", "--db", ":memory:", "--config", file}},
		"quotes":       {map[string]string{"SWIVEL_PROXIES": `"https://h/x?a=1,s3cret"`}, []string{"config", "check", "--db", ":memory:"}},
		"comma":        {nil, []string{"config", "check", "--db", ":memory:", "--proxies", "http://127.0.0.1:1/x?a=1,s3cret"}},
		"check":        {nil, []string{"check", "u:s3cret@h:1"}},
		"explain":      {nil, []string{"explain", "h:1", "--db", ":memory:", "--proxies", "u:s3cret@h:1"}},
		"config print": {map[string]string{"SWIVEL_PROXIES": "u:s3cret@h:1"}, []string{"config", "print"}},
	} {
		var out, errOut bytes.Buffer
		code := run(c.args, func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, &out, &errOut)
		text := out.String() + errOut.String()
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s: %s", name, text)
		}
		if name == "config print" {
			if !strings.Contains(text, "proxies: [REDACTED] # SWIVEL_PROXIES\n") {
				t.Errorf("%s: %s", name, text)
			}
		} else if code != exitUsage || !strings.Contains(errOut.String(), "no such file; its name is not shown") {
			t.Errorf("%s: exit code %d: %s", name, code, text)
		}
	}
}
