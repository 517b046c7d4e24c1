package resilience

import "testing"

// print shows all figures.
func (f *figures) print(t *testing.T) {
	t.Helper()
	all, late := f.afterLearning(), f.lateness()
	t.Logf("\n%s", table(f.phases))
	t.Logf("after the first phase: p50 %s, p95 %s, p99 %s ms", ms(quantile(all, .5)), ms(quantile(all, .95)), ms(quantile(all, .99)))
	t.Logf("all times count from the instant an exchange was due; of that the generator itself was late by p50 %s, p99 %s, at most %s ms",
		ms(quantile(late, .5)), ms(quantile(late, .99)), ms(quantile(late, 1)))
	for _, p := range f.phases {
		for _, o := range p.opened {
			t.Logf("%s: opened %s", p.name, o)
		}
		for _, fault := range p.faults {
			t.Logf("%s: a client was hurt: %s", p.name, fault)
		}
	}
	probing := f.probing()
	t.Logf("after the first phase: %.2f extra handshakes per 100 exchanges; %d exchanges carried a test and opened in p50 %s, p95 %s, at most %s ms",
		f.extra(), len(probing), ms(quantile(probing, .5)), ms(quantile(probing, .95)), ms(quantile(probing, 1)))
	f.printRecoveries(t)
	f.printRestart(t)
	f.printDeadTarget(t)
}

func (f *figures) printRecoveries(t *testing.T) {
	t.Helper()
	for _, r := range f.recoveries {
		left := r.due.Sub(r.at).Seconds()
		if r.served.IsZero() {
			t.Logf("%s recovered, its breaker %s with %.1f s of rest left, and did not serve again", r.name, r.state, left)
			continue
		}
		t.Logf("%s recovered, its breaker %s with %.1f s of rest left, and served %.2f s after that", r.name, r.state, left,
			r.served.Sub(r.due).Seconds())
	}
}

func (f *figures) printRestart(t *testing.T) {
	t.Helper()
	t.Logf("restart: ready %.2f s after the kill, which hit %d exchanges; resting then %v; attempts on these within their rest: %d",
		f.restart.ready.Sub(f.restart.killed).Seconds(), f.cut, f.remaining(), f.duringRests())
}

func (f *figures) printDeadTarget(t *testing.T) {
	t.Helper()
	d := f.deadTargetFigures()
	t.Logf("dead target: known after %.2f s; then %d answers from memory in p50 %s, p95 %s, at most %s ms; %d exchanges went to look, in at most %s ms; sound proxies seen open: %d",
		d.learnt.Seconds(), len(d.known), ms(quantile(d.known, .5)), ms(quantile(d.known, .95)), ms(quantile(d.known, 1)),
		len(d.trials), ms(quantile(d.trials, 1)), len(f.wronged))
}
