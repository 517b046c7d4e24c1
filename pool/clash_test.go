package pool

import (
	"errors"
	"strings"
	"testing"
)

const clash = `# made by a panel
mixed-port: 7890
dns: {enable: true, nameserver: [1.1.1.1]}
common: &common {username: user, password: 0123}
proxies:
  - {name: "🇩🇪 Berlin", type: http, server: de.example, port: 8080, username: user, password: "p@ss:word", udp: true}
  - name: secure
    type: http
    server: 192.0.2.2
    port: 443
    tls: True
    sni: sni.example
    skip-cert-verify: true
  - <<: *common
    name: five
    type: socks5
    server: 2001:db8::1
    port: 1080
  - {name: a, type: ss, server: h, port: 1, cipher: aes-128-gcm, password: s3cret}
  - {name: b, type: vmess, server: h, port: 1, uuid: s3cret}
  - {name: c, type: ss, server: h, port: 1, password: s3cret}
  - {name: d, type: socks5, server: h, port: 1, tls: true}
  - {name: e, type: http, server: h, port: 1, dialer-proxy: a}
  - {name: f, type: http, server: h}
  - {name: g, type: "s3 cret", server: h, port: 1}
  - s3cret
proxy-groups:
  - {name: auto, type: select, proxies: [a]}
`

func TestConfigurationOfClashIsAList(t *testing.T) {
	list := parseText(t, clash)
	if got := addresses(list.Specs); got != "de.example:8080 192.0.2.2:443 [2001:db8::1]:1080" {
		t.Fatal(got)
	}
	berlin, secure, five := list.Specs[0], list.Specs[1], list.Specs[2]
	if berlin.Scheme != HTTP || berlin.Name != "🇩🇪 Berlin" || berlin.User != "user" || berlin.Password.Reveal() != "p@ss:word" {
		t.Errorf("%+v", berlin)
	}
	if secure.Scheme != HTTPS || secure.SNI != "sni.example" || !secure.Insecure || secure.HasAuth {
		t.Errorf("%+v", secure)
	}
	if five.Scheme != SOCKS5 || five.User != "user" || five.Password.Reveal() != "0123" {
		t.Errorf("%+v with %q", five, five.Password.Reveal())
	}
	var skipped []string
	for _, s := range list.Skipped {
		skipped = append(skipped, s.Error())
	}
	want := []string{
		"line 19: type ss is not supported", "line 20: type vmess is not supported", "line 21: type ss is not supported",
		"line 22: socks5 with tls is not supported", "line 23: dialer-proxy is not supported: it would be left out silently",
		"line 24: the address has no port", "line 25: its type is not supported", "line 26: the entry is no proxy with a type",
	}
	if got := strings.Join(skipped, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("skipped:\n%s", got)
	}
	if strings.Join(list.Ignored, " ") != `"udp"` {
		t.Errorf("ignored: %q", list.Ignored)
	}
}

func TestTypeInCapitalsIsTaken(t *testing.T) {
	list := parseText(t, "proxies:\n- {type: HTTP, server: h, port: 1}\n- {type: Socks5, server: h, port: 2}\n- {type: VMess, server: h, port: 3}\n")
	if addresses(list.Specs) != "h:1 h:2" || list.Specs[1].Scheme != SOCKS5 || list.Skipped[0].Reason != "type vmess is not supported" {
		t.Errorf("%v, skipped %v", list.Specs, list.Skipped)
	}
}

func TestYAMLThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"port: 1\nproxies:\n  - {name: s3cret\n": "the YAML is malformed at line 2",
		"proxies: s3cret\n":                      "the YAML is malformed at line 1",
		"---\nport: 1\n":                         "the YAML has no list of proxies: under the key proxies",
		"proxies:\n":                             "the YAML has no list of proxies: under the key proxies",
		"proxies: []\n":                          "no usable proxy",
		"proxies:\n- {type: trojan, server: h, port: 1}\n":                   "no usable proxy: read 2 lines, refused 1: line 2: type trojan is not supported",
		"a: &a [x,x,x,x,x,x,x,x,x]\nproxies: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n": "no usable proxy",
		"proxies:\n- {type: http, server: \"h\\n\", port: 1}\n- *s3cret\n":   "the YAML is malformed",
	} {
		_, err := ParseList(strings.NewReader(text), nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
		if strings.HasPrefix(want, ErrNoProxies.Error()) != errors.Is(err, ErrNoProxies) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestListLinesAreNotTakenForYAML(t *testing.T) {
	for _, text := range []string{"h:1\n", "localhost:8080 # port: 1\n", "user:pass:h:1\n", "socks5 h 1080\n", "# proxies:\nh:1\n"} {
		if list := parseText(t, text); len(list.Specs) != 1 {
			t.Errorf("%q: %v", text, list.Specs)
		}
	}
}
