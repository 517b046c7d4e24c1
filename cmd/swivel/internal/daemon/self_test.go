package daemon

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// The proxies of the pool may be on this machine too, so the admin API must not
// be a target, wherever it listens and however its address is written.
func TestAdminAPICannotBeReachedThroughTheProxy(t *testing.T) {
	for _, admin := range []string{"127.0.0.1:0", "0.0.0.0:0", ":0"} {
		t.Run(admin, func(t *testing.T) {
			met := make(chan struct{}, 100)
			r := newRig(t, scripted(t, "HTTP/1.1 200 OK\r\n\r\n", func() { met <- struct{}{} }))
			r.cfg.Admin, r.cfg.AdminToken = admin, "0123456789abcdef"
			r.start()
			port := strconv.Itoa(int(r.AdminAddr().Port()))
			for _, host := range []string{
				"127.0.0.1", "localhost", "LOCALHOST.", "api.localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0", "127.0.0.1.",
				"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::]",
			} {
				target := host + ":" + port
				if status := r.connect(target); status != 508 {
					t.Errorf("CONNECT %s: %d", target, status)
				}
				if status := r.get("http://" + target + "/api/v1/proxies"); status != 508 {
					t.Errorf("GET %s: %d", target, status)
				}
			}
			if len(met) > 0 {
				t.Errorf("%d requests came to a proxy", len(met))
			}
		})
	}
}

func TestListedProxyThatIsSwivelItselfIsNamed(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.start()
	r.write("192.0.2.1:1", r.Addr().String()+" name=oops")
	if done, err := r.Reload(); err != nil || done.OwnAddress != 1 || done.Kept != 1 || done.Added != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	lines := r.log.lines("proxy not used: its address is swivel's own")
	if len(lines) != 1 || lines[0]["proxy_name"] != "oops" || lines[0]["address"] != r.Addr().String() {
		t.Errorf("%v", lines)
	}
}

// get asks for a plain URL through the daemon and returns the status.
func (r *rig) get(url string) int {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x.test\r\nConnection: close\r\n\r\n", url); err != nil {
		r.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
