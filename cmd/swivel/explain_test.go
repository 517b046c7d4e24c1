package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/pool"
)

// explain runs the command without a daemon.
func explain(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	list := write(t, "proxies.txt", "127.0.0.1:1 name=a weight=3 country=us\n127.0.0.1:2 name=b country=de\n127.0.0.1:3 name=c weight=0\n")
	none := func(string) (string, bool) { return "", false }
	var o, e bytes.Buffer
	code = run(append([]string{"explain", "--proxies", list, "--db", filepath.Join(t.TempDir(), "none.db")}, args...), none, &o, &e)
	return code, o.String(), e.String()
}

func TestExplainWithoutADaemon(t *testing.T) {
	code, out, errOut := explain(t, "example.org")
	if code != exitOK || !strings.HasSuffix(out, "\n2 of 3 may be picked; passed over: drained 1.\n") || !strings.Contains(out, "75.0 %") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if _, out, _ = explain(t, "example.org", "--user", "me-county-de"); !strings.HasPrefix(out, "example.org:443; the user name holds no routing key\n") {
		t.Errorf("a misspelt key: %s", out)
	}
	code, out, _ = explain(t, "example.org", "--json", "--user", "me-country-de")
	var e admin.Explanation
	if err := json.Unmarshal([]byte(out), &e); err != nil || code != exitOK || e.Proxies[0].Name != "b" || e.Counts["mismatch"] != 1 {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
}

func TestExplainPromisesNoTimeForWhatNobodyMeets(t *testing.T) {
	code, out, errOut := explain(t, "example.org", "--user", "me-country-xx")
	if code != exitOK || !strings.HasSuffix(out, "\n0 of 3 may be picked, since no proxy of the list meets country; passed over: drained 1, mismatch 2.\n") ||
		strings.Count(out, "mismatch: country\n") != 2 {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

// TestExplainInventedWhenAFullProxyHasRoom: that is up to what it carries.
func TestExplainInventedWhenAFullProxyHasRoom(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a max_in_flight=1")
	now := time.Now()
	x, _, _ := r.d.Pool().Begin(pool.Request{ID: "test", Target: "a.test:443"}, now)
	if _, _, ok := x.Next(now, time.Minute, true); !ok {
		t.Fatal("no lease")
	}
	_, out, errOut := r.ask("explain", "example.org")
	if !strings.HasSuffix(out, " full\n\n0 of 1 may be picked, until one has room; passed over: full 1.\n") {
		t.Errorf("%s%s", out, errOut)
	}
}

func TestExplainSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{""}, exitUsage, "swivel: explain: target: want host, host:port or a URL\n"},
		{[]string{"x", "--user", "me-country-us-planet-mars"}, exitUsage, "swivel: explain: user: unknown routing key planet\n"},
		{[]string{"x", "--proxies", "/nowhere"}, exitUsage, "swivel: proxies: /nowhere: no such file or directory\n"},
	} {
		if code, out, errOut := explain(t, c.args...); code != c.code || errOut != c.want || out != "" {
			t.Errorf("%q: exit code %d: %s%s", c.args, code, out, errOut)
		}
	}
}

func TestExplainWithoutAnybodyToAsk(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	var out, errOut bytes.Buffer
	code := run([]string{"explain", "--admin", "127.0.0.1:1", "example.org"}, none, &out, &errOut)
	if code != exitRuntime || !strings.HasPrefix(errOut.String(), "swivel: explain: no daemon answers at 127.0.0.1:1;") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
}

func TestExplainOfAListTookSwivelItselfForAProxy(t *testing.T) {
	list := write(t, "proxies.txt", "192.0.2.1:1 name=other\n127.0.0.1:8484 name=oops\n")
	code, out, errOut := explain(t, "127.0.0.1:8484", "--proxies", list, "--db", ":memory:")
	if code != exitOK || strings.Contains(out, "oops") || !strings.Contains(out, "other") || !strings.Contains(out, "508") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}
