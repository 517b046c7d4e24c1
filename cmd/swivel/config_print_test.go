package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestConfigPrintSaysWhereValuesComeFromAndNoSecret(t *testing.T) {
	file := write(t, "swivel.yaml", "breaker: {open_timeout: 45s}\nlog: {level: warn}\nusers: [\"alice:$2y$05$"+strings.Repeat(".", 53)+"\"]\n")
	vars := map[string]string{"SWIVEL_ADMIN_TOKEN": "s3cret-s3cret-s3cret", "SWIVEL_BANS_STATUSES": "403,429", "SWIVEL_LOG_LEVEL": "error",
		"SWIVEL_FLEET": "redis://:s3cret@192.0.2.1"}
	env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	var out, errOut bytes.Buffer
	code := run([]string{"config", "print", "--config", file, "--listen", "127.0.0.1:9", "--proxies", "https://u:s3cret@v.example/s3cret?s3cret"}, env, &out, &errOut)
	if code != exitOK || strings.Contains(out.String(), "s3cret") || strings.Contains(out.String(), "$2y$") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
	for _, want := range []string{
		"listen: 127.0.0.1:9 # flag\n", "admin: 127.0.0.1:8485\n", "admin_token: REDACTED # SWIVEL_ADMIN_TOKEN\n", "proxies: ['https://v.example/…'] # flag\n",
		"users: ['alice:REDACTED'] # " + file + "\n", "  open_timeout: 45s # " + file + "\n", "  statuses: [403, 429] # SWIVEL_BANS_STATUSES\n",
		"  hedge_after: p95\n", "  level: error # SWIVEL_LOG_LEVEL\n", "strategy: weighted\n", "fleet: REDACTED # SWIVEL_FLEET\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// What is printed can be used as a file, as long as it held no secret.
func TestConfigPrintIsAConfiguration(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	var first, second, errOut bytes.Buffer
	run([]string{"config", "print", "--proxies", "p.txt", "--db", ":memory:"}, none, &first, &errOut)
	file := write(t, "swivel.yaml", first.String())
	code := run([]string{"config", "print", "--config", file}, none, &second, &errOut)
	bare := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " # ")
			b.WriteString(value + "\n")
		}
		return b.String()
	}
	if code != exitOK || bare(first.String()) != bare(second.String()) || errOut.Len() > 0 {
		t.Errorf("exit code %d: %s\n%s\n%s", code, errOut.String(), first.String(), second.String())
	}
}

func TestConfigPrintShowsAlsoWhatDoesNotHold(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	var out, errOut bytes.Buffer
	code := run([]string{"config", "print", "--listen", "0.0.0.0:1"}, none, &out, &errOut)
	if code != exitUsage || !strings.HasPrefix(out.String(), "listen: 0.0.0.0:1 # flag\n") || !strings.HasPrefix(errOut.String(), "swivel: listen: 0.0.0.0:1 can be reached") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
}

func TestMisspeltVariableWasNotNamedByConfigPrint(t *testing.T) {
	t.Setenv("SWIVEL_BREAKER_OPEN_TIMOUT", "4")
	none := func(string) (string, bool) { return "", false }
	var out, errOut bytes.Buffer
	code := run([]string{"config", "print"}, none, &out, &errOut)
	const want = "warning: SWIVEL_BREAKER_OPEN_TIMOUT is no variable of swivel, and changes nothing; is SWIVEL_BREAKER_OPEN_TIMEOUT meant?\n"
	if code != exitOK || errOut.String() != want || strings.Contains(out.String(), "TIMOUT") {
		t.Errorf("exit code %d: %s\n%s", code, errOut.String(), out.String())
	}
}

func TestConfigPrintShowedPasswordsWhereNoneBelong(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	file := write(t, "swivel.yaml", "listen: 'u:s3cret@h:1'\nadmin: 'u:s3cret@h:2'\ncanary: {url: 'http://u:s3cret@h/'}\ntargets: {allow: ['u:s3cret@h', h], deny: ['http://u:s3cret@h/']}\n")
	var out, errOut bytes.Buffer
	code := run([]string{"config", "print", "--config", file}, none, &out, &errOut)
	if code != exitUsage || strings.Contains(out.String()+errOut.String(), "s3cret") || strings.Count(out.String(), "REDACTED # ") != 3 || !strings.Contains(out.String(), "allow: [REDACTED, h] # ") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
}
