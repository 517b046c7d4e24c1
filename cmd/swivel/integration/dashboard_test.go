package integration

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swivel/cmd/swivel/internal/swiveltest"
)

// tunnelled answers every CONNECT itself, and then whatever is said in it.
func tunnelled(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(c)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	if line, err := in.ReadString('\n'); err == nil {
		_, _ = io.WriteString(c, line)
	}
}

// owned is a name that becomes an element if anybody takes it for markup.
const owned = `<img src=x onerror=document.title='owned'>`

func TestDashboardShowsAndStopsProxies(t *testing.T) {
	good, unpaid := newToy(t, "127.0.0.2"), newToy(t, "127.0.0.3")
	good.open(t, tunnelled)
	unpaid.open(t, answer("HTTP/1.1 407 Pay\r\n\r\n"))
	d := startDaemon(t, swiveltest.Setup{Lines: []string{
		good.hostPort + " name=berlin provider=acme country=de weight=3",
		unpaid.hostPort + " name=unpaid provider=acme country=fr",
		good.hostPort + `:user:pass name="` + owned + `" provider=zeta tag=eu`,
		"127.0.0.4:9 name=spare weight=0",
	}})
	b := newBrowser(t)
	b.do(chromedp.Navigate("http://" + d.Admin + "/"))
	b.sees("#health", "serving")
	b.sees("#live", "live")
	for i := range 30 {
		d.tunnel(t, fmt.Sprintf("t%d.test:443", i))
	}
	b.sees("#event-rows", "unpaid closed → open by refused (handshake_auth)")
	b.sees("#proxy-rows tr:first-child", "unpaid") // what needs a look comes first
	b.sees("#proxy-rows tr:first-child", "refused, until ")
	b.sees("#proxy-rows", owned)
	b.sees("#tiles", "30 served, 0 failed")
	b.sees("#segment-rows", "acme//http")
	b.sees("#charts", "a breaker opens at 40 %")

	// With the keyboard alone: pause, say why, and the page shows it.
	b.do(chromedp.Focus(`[aria-label="Pause berlin"]`), chromedp.KeyEvent(kb.Enter))
	b.sees("#action-title", "Pause berlin?")
	b.do(chromedp.KeyEvent("vendor <b>maintenance</b>"), chromedp.KeyEvent(kb.Enter))
	b.sees("#event-rows", "berlin paused: vendor <b>maintenance</b>")
	b.sees("#tiles", "1 paused")
	b.do(chromedp.Click(`[aria-label="Resume berlin"]`), chromedp.WaitVisible("#action"), chromedp.Click(`#action .primary`))
	b.sees("#event-rows", "berlin resumed")
	b.do(chromedp.Click(`[aria-label="Drain berlin"]`), chromedp.WaitVisible("#action"), chromedp.Click(`#action .primary`))
	if eval[bool](b, "document.querySelector('#action').open") != true {
		t.Error("it is drained without a reason")
	}
	b.do(chromedp.KeyEvent(kb.Escape))

	b.do(chromedp.SendKeys("#filter [name=q]", "FR"))
	b.sees("#range", "1–1 of 1")
	b.chooses("#filter [name=q]", "")
	b.chooses("#filter [name=state]", "drained")
	b.sees("#proxy-rows", "weight 0")
	b.chooses("#filter [name=state]", "")
	b.sees("#range", "of 4")

	b.do(chromedp.SendKeys("#explain [name=target]", "example.org\r"))
	b.sees("#explanation", "example.org:443: 1 drained, 2 in_use, 1 open")
	b.do(chromedp.SendKeys("#explain [name=user]", "me-country-de-sesion-a1\r"))
	b.sees("#explanation", "user: ")

	b.looks("light", 1280, "light")
	b.looks("dark", 1280, "dark")
	b.looks("phone", 400, "dark")
	b.looks("phone-light", 400, "light")
	if title := eval[string](b, "document.title"); title != "swivel" {
		t.Errorf("a name became markup: the title is %q", title)
	}
}

func TestDashboardAsksForTheToken(t *testing.T) {
	const token = "0123456789abcdefXYZ"
	d := startDaemon(t, swiveltest.Setup{Lines: []string{"127.0.0.4:9 name=berlin"}, Env: []string{"SWIVEL_ADMIN_TOKEN=" + token}})
	b := newBrowser(t)
	b.do(chromedp.Navigate("http://"+d.Admin+"/"), chromedp.WaitVisible("#login"), chromedp.SendKeys("#login input", "wrong\r"))
	b.sees("#login", "That was not the token.")
	b.do(chromedp.SendKeys("#login input", token+"\r"))
	b.sees("#proxy-rows", "berlin")
	b.sees("#live", "live")
	b.do(chromedp.Reload())
	b.sees("#proxy-rows", "berlin") // without being asked again
}

// The promises about a large pool: the first proxies are there within a second,
// and a page that is open takes a hundredth of a processor from the daemon.
func TestDashboardOfTenThousandProxies(t *testing.T) {
	const proxies = 10_000
	lines := make([]string, proxies)
	for i := range lines {
		lines[i] = fmt.Sprintf("10.%d.%d.1:8080:user:pass name=p%05d provider=vendor%d region=r%d", i/250, i%250, i, i%7, i%11)
	}
	d := startDaemon(t, swiveltest.Setup{Lines: lines})
	b := newBrowser(t)
	best := math.Inf(1)
	for range 5 { // what else the machine does may get in the way once, and not always
		b.do(chromedp.Navigate("http://" + d.Admin + "/"))
		b.sees("#range", "of 10,000")
		b.sees("#live", "live")
		if best = min(best, eval[float64](b, firstRowsAt)); best <= 1000 {
			break
		}
	}
	t.Logf("the first proxies were there after %.0f ms", best)
	if best > 1000 {
		failUnlessSlow(t, "the first proxies were there after %.0f ms", best)
	}
	b.do(chromedp.Click("#next"))
	b.sees("#range", "51–100 of 10,000")
	b.do(chromedp.SendKeys("#filter [name=q]", "p0777"))
	b.sees("#range", "1–10 of 10")
	b.chooses("#filter [name=q]", "")
	b.sees("#range", "of 10,000")

	before, began := d.processorTime(t), time.Now()
	eval[bool](b, "new Promise((done) => setTimeout(() => done(true), 15000))") // three looks
	share := (d.processorTime(t) - before).Seconds() / time.Since(began).Seconds()
	t.Logf("an open page takes %.2f %% of a processor", share*100)
	if share > 0.01 {
		failUnlessSlow(t, "an open page takes %.2f %% of a processor", share*100)
	}
}

// failUnlessSlow: the race detector makes everything several times slower.
func failUnlessSlow(t *testing.T, format string, args ...any) {
	t.Helper()
	if swiveltest.RaceDetector {
		t.Logf(format, args...)
		return
	}
	t.Errorf(format, args...)
}

// processorTime is what the daemon has taken of it so far, in user and system
// (proc(5): fields 14 and 15 of stat, in hundredths of a second).
func (d daemon) processorTime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.PID()))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
