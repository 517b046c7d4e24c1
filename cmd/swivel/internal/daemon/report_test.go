package daemon

import (
	"os"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

func TestReportedFailuresAreStored(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	for range 3 { // it has never worked
		r.Report(pool.Report{Proxy: r.proxy("a"), Verdict: pool.ReportedFailure, Request: "6d0761316442b0f9"})
	}
	if lines := r.log.lines("breaker"); len(lines) != 1 || lines[0]["signal"] != "reported" || lines[0]["request"] != "6d0761316442b0f9" {
		t.Errorf("the log says %v", lines)
	}
	r.Report(pool.Report{Proxy: r.proxy("b"), Target: "shop.test:443", Verdict: pool.ReportedBanned})
	r.restart()
	if r.snapshot("a").State != breaker.Open {
		t.Error("a is in use again")
	}
	if !strings.Contains(r.explained("shop.test:443"), "banned") {
		t.Error("b is not banned any more")
	}
}

func (r *rig) explained(target string) (skips string) {
	for _, c := range r.pool.Explain(pool.Request{Target: target}, time.Now()).Chances {
		skips += c.Skip.String() + " "
	}
	return skips
}

func TestReloadOnSignalIsAudited(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.ReloadOnSignal()
	if deeds, err := r.Deeds(10); err != nil || len(deeds) != 1 || deeds[0].Caller != "signal" || deeds[0].Action != "reload" || len(r.pool.Proxies()) != 2 {
		t.Errorf("%+v, %v", deeds, err)
	}
	r.write("# nothing")
	r.ReloadOnSignal()
	deeds, err := r.Deeds(10)
	if err != nil || len(deeds) != 3 || deeds[1].Action != "reload" || deeds[0].Action != "reload_refused" || deeds[0].Caller != "signal" || !strings.Contains(deeds[0].Input, "blank or comments") {
		t.Errorf("%+v, %v", deeds, err)
	}
}

// A file of users that is something else has something wrong in every line, which was
// too much for the audit log: it had nothing of the refusal.
func TestReloadThatIsRefusedForManyReasonsIsAudited(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.cfg.UsersFile = r.list + ".users"
	write := func(text string) {
		if err := os.WriteFile(r.cfg.UsersFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("alice" + hash + "\n")
	r.start()
	write(strings.Repeat("é no user\n", 100))
	r.ReloadOnSignal()
	deeds, err := r.Deeds(10)
	if err != nil || len(deeds) != 2 || deeds[0].Action != "reload_refused" || !strings.HasSuffix(deeds[0].Input, "…") {
		t.Errorf("%+v, %v", deeds, err)
	}
}
