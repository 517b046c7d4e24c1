package front

import (
	"encoding/base64"
	"strings"
	"testing"
)

// basic is a field with credentials, which the given text is.
func basic(credentials string) string {
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(credentials)) + "\r\n"
}

func connectWith(fields string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + fields + "\r\n"
}

const site = "HTTP/1.1 200 OK\r\nDate: now\r\nServer: o\r\nContent-Length: 2\r\n\r\nok"

func getWith(fields string) string {
	return "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n" + fields + "\r\n"
}

// wantsChallenge reads a 407 as every client understands it.
func (c *testClient) wantsChallenge() {
	c.t.Helper()
	resp, body := c.reply()
	if resp.StatusCode != 407 || resp.Header.Get("Proxy-Authenticate") != `Basic realm="swivel"` ||
		resp.Header.Get("X-Swivel-Error") != "auth_required" || resp.ContentLength <= 0 || strings.Contains(resp.Status+body, "example") {
		c.t.Fatalf("%s %v %q", resp.Status, resp.Header, body)
	}
}

// Clients that wait for the challenge before they send a password do that on the
// same connection, and some know no other way.
func TestAClientThatWaitsForTheChallengeGetsInOnTheSameConnection(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret", "user1-de:x"}
	r.start(r.proxy(func(c *peer) {
		if head := c.head(); strings.HasPrefix(head, "CONNECT") {
			c.send(ok200)
			c.echo()
		} else if head != "" {
			c.send(site)
		}
	}).addr() + " country=de")
	wrong := []string{
		"", basic("user1:wrong"), basic("eve:s3cret"), basic("user1-country-de:wrong"), basic("user1-contry-de:wrong"), "Proxy-Authorization: Basic !!!\r\n",
		"Proxy-Authorization: Basic\r\n", "Proxy-Authorization: Bearer s3cret\r\n", "Authorization: Basic dXNlcjE6czNjcmV0\r\n",
	}
	right := []string{
		basic("user1:s3cret"), basic("user1-country-de-session-a1:s3cret"), basic("user1-de:x"), "proxy-authorization: bAsIc dXNlcjE6czNjcmV0\r\n",
	}
	for i, fields := range wrong {
		c := r.dial()
		c.send(connectWith(fields))
		c.wantsChallenge()
		c.send(getWith(fields))
		c.wantsChallenge()
		c.send(getWith(right[i%len(right)]))
		c.skipResponse("ok")
		c.send(getWith("")) // each request is checked by itself
		c.wantsChallenge()
		c.send(connectWith(right[i%len(right)]))
		c.wants(200)
		c.send("x")
		c.expect("x")
	}
}

func TestEveryWayInIsGuarded(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	p := r.proxy(tunnels)
	r.start(p.addr())
	for _, send := range []string{
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "TRACE http://example.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://example.test/ HTTP/1.0\r\n\r\n", "CONNECT " + target + " HTTP/1.0\r\n\r\n",
		"GET ws://example.test/ HTTP/1.1\r\nHost: example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"PRI http://example.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c := r.dial()
		c.send(send)
		c.wantsChallenge()
		_ = c.Close()
	}
	c := r.dial()
	c.send(connectWith(basic("user1:s3cret") + basic("user1:s3cret")))
	c.wants(400)
	if all, _ := p.accepted(); all > 0 || !r.untouched(0) {
		t.Errorf("%d connections to the proxy, %+v", all, r.snapshot(0))
	}
}

// The body of a refused request must not be taken for the next request, and what
// follows a refused CONNECT may be meant for its target.
func TestA407KeepsOnlyConnectionsWhoseNextRequestIsCertain(t *testing.T) {
	post := func(fields string) string {
		return "POST http://example.test/ HTTP/1.1\r\nHost: example.test\r\n" + fields + "\r\n"
	}
	smuggled := getWith(basic("user1:s3cret"))
	for _, test := range []struct {
		name, send string
		kept       bool
	}{
		{"small body", post("Content-Length: 70\r\n") + smuggled[:70], true},
		{"no body", post("Content-Length: 0\r\n"), true},
		{"large body", post("Content-Length: 65537\r\n") + strings.Repeat("x", 65537), false},
		{"chunked body", post("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\n\r\n", false},
		{"body to be asked for", post("Content-Length: 5\r\nExpect: 100-continue\r\n"), false},
		{"no keep-alive", post("Content-Length: 0\r\nConnection: close\r\n"), false},
		{"HTTP/1.0", "GET http://example.test/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
		{"CONNECT", connectWith(""), true},
		{"CONNECT with data behind it", connectWith("") + smuggled, false},
		{"CONNECT with a body", connectWith("Content-Length: 5\r\n"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.users = []string{"user1:s3cret"}
			p := r.proxy(answers(site))
			r.start(p.addr())
			c := r.dial()
			c.send(test.send)
			c.wantsChallenge()
			if !test.kept {
				c.expectEnd()
				if n, head := p.asked(); n > 0 {
					t.Errorf("passed on: %q", head)
				}
				return
			}
			c.send(getWith(basic("user1:s3cret")))
			c.skipResponse("ok")
		})
	}
}

func TestWrongLoginsByTheHundredHarmNothing(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	p := r.proxy(tunnels)
	r.start(p.addr())
	for i := range 500 {
		c := r.dial()
		c.send(connectWith(basic("user1:wrong" + string(rune('a'+i%26)))))
		if i%2 == 0 {
			c.reset()
			continue
		}
		c.wantsChallenge()
		_ = c.Close()
	}
	c := r.dial()
	c.send(connectWith(basic("user1:s3cret")))
	c.wants(200)
	if all, _ := p.accepted(); all != 1 || !r.untouched(0) {
		t.Errorf("%d connections to the proxy, %+v", all, r.snapshot(0))
	}
}

func TestCredentialsAndRoutingFieldsGoNoFurther(t *testing.T) {
	for _, users := range [][]string{nil, {"user1:s3cret"}} {
		r := newRig(t)
		r.users = users
		p := r.proxy(answers(site))
		r.start(p.addr() + " country=de")
		c := r.dial()
		c.send(getWith(basic("user1:s3cret") + "Authorization: Basic b3JpZ2luOm9ubHk=\r\nX-Swivel-Route: country=de\r\nx-swivel-session: a1\r\n"))
		c.skipResponse("ok")
		_, head := p.asked()
		for _, secret := range []string{"roxy-", "dXNlcjE6czNjcmV0", "wivel", "a1"} {
			if strings.Contains(head, secret) {
				t.Errorf("the proxy received %q", head)
			}
		}
		if !strings.Contains(head, "\r\nAuthorization: Basic b3JpZ2luOm9ubHk=\r\n") {
			t.Errorf("Authorization is the site's, but it received %q", head)
		}
	}
}

func TestBadRoutingKeysAreNamedToThoseWhoMayComeIn(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	p := r.proxy(tunnels)
	r.start(p.addr())
	for fields, named := range map[string]string{
		basic("user1-contry-de:s3cret"):                                                                      "contry",
		basic("user1;country=de;cc=us:s3cret"):                                                               "cc",
		basic("user1:s3cret") + "X-Swivel-Route: ttl=soon\r\n":                                               "ttl",
		basic("user1:s3cret") + "X-Swivel-Session: a b\r\n":                                                  "session",
		basic("user1-country-de:s3cret") + "X-Swivel-Route: planet=x\r\n":                                    "planet",
		basic("user1:s3cret") + "X-Swivel-Route: country=us\r\nX-Swivel-Route: country=de\r\n":               "country",
		basic("user1:s3cret") + "X-Swivel-Session: a\r\nX-Swivel-Session: b\r\n":                             "session",
		basic("user1:s3cret") + "X-Swivel-Session: a\r\nX-Swivel-Route: city=x\r\nX-Swivel-Route: sid=b\r\n": "session",
	} {
		for _, send := range []string{connectWith(fields), getWith(fields)} {
			c := r.dial()
			c.send(send)
			resp, body := c.reply()
			if resp.StatusCode != 400 || resp.Header.Get("X-Swivel-Error") != "bad_routing_key" || !strings.Contains(body, named) {
				t.Errorf("%q: %s %v %q", fields, resp.Status, resp.Header, body)
			}
			_ = c.Close()
		}
	}
	if all, _ := p.accepted(); all > 0 {
		t.Error("a proxy was asked")
	}
}

func TestRoutingKeysReachThePool(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	says := func(country string) string {
		return r.proxy(answers(strings.Replace(site, "ok", country, 1))).addr() + " country=" + country
	}
	r.start(says("de"), says("us"))
	for range 5 {
		for fields, want := range map[string]string{
			basic("user1-country-de:s3cret"):                                       "de",
			basic("user1;cc=us:s3cret"):                                            "us",
			basic("user1:s3cret") + "X-Swivel-Route: country=us\r\n":               "us",
			basic("user1-country-us:s3cret") + "X-Swivel-Route: country=de\r\n":    "de",
			basic("user1-country-us-session-a:s3cret") + "X-Swivel-Session: b\r\n": "us",
		} {
			c := r.dial()
			c.send(getWith(fields))
			c.skipResponse(want)
			_ = c.Close()
		}
	}
}

func TestWithoutUsersOnlyTheKeysAreRead(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	for credentials, status := range map[string]int{
		"scraper-prod:x": 200, ":": 200, "scraper-session-a1:": 200, "scraper-country-us-planet-x:x": 400,
		"scraper-country-us-planet-x": 400, "scraper-country-us-planet-x:x\n": 400, // by hand, with base64
	} {
		c := r.dial()
		c.send(connectWith(basic(credentials)))
		c.wants(status)
		_ = c.Close()
	}
}

// What is not known to be a name may be anything: a password in the wrong place,
// or the key of a service that was used before.
func TestTheLogNamesUsersAndNothingElseOfCredentials(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	r.start(r.proxy(tunnels).addr())
	for i, c := range []struct{ credentials, user, session string }{
		{"user1-session-a1:s3cret", "user1", "a1"},
		{"user1:gu3ss", "user1", ""},
		{"s3cret:gu3ss", "", ""},
		{"user1-contry-gu3ss:s3cret", "user1", ""},
	} {
		conn := r.dial()
		conn.send(connectWith(basic(c.credentials)))
		conn.reply()
		_ = conn.Close()
		if x := r.logged(i + 1); x.User != c.user || x.Session != c.session {
			t.Errorf("%s: %+v", c.credentials, x)
		}
	}
	if log := r.log.String(); strings.Contains(log, "s3cret") || strings.Contains(log, "gu3ss") {
		t.Errorf("credentials in the log: %s", log)
	}
}
