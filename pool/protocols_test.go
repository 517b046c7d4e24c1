package pool

import (
	"strings"
	"testing"
)

// Geonode and other free lists say in an array what a proxy speaks, or in a type.
func TestProxiesOfFreeListsWereTakenForHTTP(t *testing.T) {
	for fields, want := range map[string]string{
		`"protocols":["socks5"]`:                                       "socks5",
		`"protocols":["http","SOCKS4","socks5"]`:                       "socks5",
		`"protocols":["http","socks4a"]`:                               "socks4",
		`"protocols":["https"]`:                                        "http", // takes CONNECT: no TLS to the proxy
		`"protocols":["http","https"]`:                                 "http",
		`"protocols":["vmess","socks4"]`:                               "socks4",
		`"protocols":"socks4, socks5"`:                                 "socks5",
		`"protocols":[]`:                                               "http",
		`"protocols":null`:                                             "http",
		`"type":"SOCKS5"`:                                              "socks5",
		`"type":"https"`:                                               "https", // alone it is what a protocol would be
		`"type":"HTTP/HTTPS"`:                                          "http",
		`"type":["socks4","socks5"]`:                                   "socks5",
		`"type":"elite"`:                                               "http",
		`"type":{"anonymity":"elite"}`:                                 "http",
		`"type":3`:                                                     "http",
		`"type":"residential socks4"`:                                  "socks4",
		`"protocols":["socks4"],"type":"socks5"`:                       "socks4",
		`"protocol":"http","protocols":["socks5"]`:                     "http",
		`"protocol":"https","type":"socks5"`:                           "https",
		`"protocol":"","type":"socks5"`:                                "socks5",
		`"type":"socks5","proxy":"192.0.2.1:1080"`:                     "socks5",
		`"protocols":["socks5"],"proxy":"socks4://192.0.2.1:1080"`:     "socks4",
		`"type":"anonymous","proxy":"socks5 192.0.2.1 1080 user pass"`: "socks5",
	} {
		where := `"ip":"192.0.2.1","port":"1080",`
		if strings.Contains(fields, `"proxy"`) {
			where = ""
		}
		list, err := ParseList(strings.NewReader(`{"data":[{`+where+fields+`}]}`), nil)
		if err != nil || len(list.Specs) != 1 || list.Specs[0].Scheme.canonical().String() != want {
			t.Errorf("%s: %v, %s; want %s", fields, err, shown(list.Specs), want)
		}
	}
}

func TestProtocolsOfATableWereIgnored(t *testing.T) {
	const text = `"ip","port","protocols","type"
"192.0.2.1","1080","socks4,socks5","elite"
"192.0.2.2","8080","",""
"192.0.2.3","1080","","SOCKS4"
`
	list := parseText(t, text)
	want := "socks5://192.0.2.1:1080\nhttp://192.0.2.2:8080\nsocks4://192.0.2.3:1080"
	if shown(list.Specs) != want || len(list.Skipped) != 0 || strings.Join(list.Ignored, " ") != `"type"` {
		t.Errorf("%s\nskipped %v, ignored %v", shown(list.Specs), list.Skipped, list.Ignored)
	}
}

// What speaks nothing that is known would be asked in vain, as http.
func TestProtocolsThatAreAllUnknownAreRefused(t *testing.T) {
	for _, fields := range []string{`"protocols":["vmess"]`, `"protocols":"s3cret"`, `"protocols":[{"http":true}]`} {
		list, err := ParseList(strings.NewReader(`[{"ip":"192.0.2.1","port":1,`+fields+`}]`), nil)
		if err == nil || len(list.Skipped) != 1 || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, skipped %v", fields, err, list.Skipped)
		}
	}
}
