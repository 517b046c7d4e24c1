package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

func completion(t *testing.T, shell string) string {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	var out, errOut bytes.Buffer
	if code := run([]string{"completion", shell}, none, &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	return out.String()
}

func TestBashCompletes(t *testing.T) {
	script := completion(t, "bash")
	for words, want := range map[string]string{
		"swivel re":                         "resume reload",
		"swivel config ":                    "print check --help",
		"swivel config check --log-f":       "--log-format",
		"swivel status --state half":        "half_open",
		"swivel serve --proxies /etc/host ": "",
		"swivel pause --reason ":            "",
		"swivel completion z":               "zsh",
	} {
		// As bash has it: the words, the last of which the cursor is in.
		command := exec.Command("bash", "-c", script+`
			IFS=' ' read -ra COMP_WORDS <<< "$1"; [[ $1 == *' ' ]] && COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _swivel; echo "${COMPREPLY[*]}"`, "bash", words)
		out, err := command.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want && want != "" {
			t.Errorf("%q: %v: %q, want %q", words, err, got, want)
		}
	}
}

// The other shells need not be here to see that nothing is left out.
func TestEveryShellKnowsEveryCommandAndFlag(t *testing.T) {
	for shell, flag := range map[string]string{"bash": "--%s", "zsh": "--%s", "fish": "-l %s"} {
		script := completion(t, shell)
		for _, command := range []string{"serve", "demo", "check", "status", "explain", "pause", "drain", "resume", "reload", "print", "version", "completion"} {
			if !strings.Contains(script, command) {
				t.Errorf("%s does not know %s", shell, command)
			}
		}
		for _, name := range []string{"proxies", "listen", "reason", "watch", "users-file", "state"} {
			if !strings.Contains(script, strings.Replace(flag, "%s", name, 1)) {
				t.Errorf("%s does not know --%s", shell, name)
			}
		}
	}
}
