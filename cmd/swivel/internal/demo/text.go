package demo

import (
	"fmt"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"
)

// Serving is what the text for people has to know of the swivel in front of
// the toys.
type Serving struct {
	Listen netip.AddrPort
	Admin  netip.AddrPort // not valid: off
	Rest   time.Duration  // open_timeout
	Cert   string         // file that it shows clients; "": it speaks no TLS with them
}

// Describe says who takes part and what to try.
func (d *Demo) Describe(s Serving) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("\nswivel listens on %s, in front of five toy proxies inside this process:\n", s.Listen)
	d.table(&b)
	line("\nTry in another terminal:\n")
	proxy := "http://" + s.Listen.String()
	if s.Cert != "" {
		proxy = "https://" + s.Listen.String() + " --proxy-cacert " + s.Cert
	}
	line("  curl -x %s http://%s/", proxy, Host)
	line("  curl -x %s --cacert %s https://%s/", proxy, d.CAFile(), Host)
	line("  for i in $(seq 100); do curl -sx %s http://%s/; done | sort | uniq -c", proxy, Host)
	if s.Admin.IsValid() {
		line("  curl http://%s/api/v1/proxies", s.Admin)
		line("and watch them in a browser at http://%s/", s.Admin)
	}
	line("\n%s answers with the name of the toy it was reached through; other targets are really fetched.", Host)
	line("The loop takes ten seconds, and none of its requests fails. dead and flaky do: the log below shows how")
	line("their breakers open after three failures (it takes five of a proxy that has worked), and let a probe")
	line("through after %v, then less and less often. Run the loop again after %s: two good probes bring", s.Rest, d.flakyUntil.Format(time.TimeOnly))
	line("flaky back. Ctrl-C stops.\n")
	return b.String()
}

func (d *Demo) table(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "  PROXY\tWEIGHT\tWHAT IT DOES")
	for _, toy := range d.toys {
		_, _ = fmt.Fprintf(t, "  %s\t%g\t%s\n", toy.name, toy.weight, toy.does)
	}
	_ = t.Flush()
}
