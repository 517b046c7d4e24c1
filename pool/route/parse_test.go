package route

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// named are users for tests.
type named []string

func (n named) Has(name string) bool {
	for _, known := range n {
		if known == name {
			return true
		}
	}
	return false
}

// dialects are user names as the documentation of vendors, and of peers, has
// them. What is no key of ours stays in the name, or is refused by its word.
var dialects = []struct {
	vendor, user, name string
	route              Route
	bad                string // the key of the error
}{
	{"Bright Data", "brd-customer-hl_1-zone-res-country-us-session-rand39484", "brd-customer-hl_1",
		Route{Tag: "res", Country: "us", Session: "rand39484"}, ""},
	{"Bright Data, state", "brd-customer-hl_1-zone-res-country-us-state-ny-city-newyork", "brd-customer-hl_1",
		Route{Tag: "res", Country: "us", Region: "ny", City: "newyork"}, ""},
	{"Bright Data, network", "brd-customer-hl_1-zone-res-country-us-asn-56386", "brd-customer-hl_1", Route{}, "asn"},
	{"Oxylabs", "customer-USER-cc-US-city-los_angeles-sessid-abc12345-sesstime-10", "customer-USER",
		Route{Country: "us", City: "los_angeles", Session: "abc12345", TTL: 10 * time.Minute}, ""},
	{"Oxylabs, state", "customer-USER-cc-US-st-us_california", "customer-USER", Route{Country: "us", Region: "us_california"}, ""},
	{"Oxylabs, one address", "customer-USER-cc-DE-sessid_oneip-abc12345", "customer-USER",
		Route{Country: "de", Session: "abc12345", Strict: true}, ""},
	{"Decodo", "user-NAME-country-us-session-x-sessionduration-30", "user-NAME",
		Route{Country: "us", Session: "x", TTL: 30 * time.Minute}, ""},
	{"IPRoyal, keys in the password", "username123", "username123", Route{}, ""},
	{"IPRoyal, keys in the user", "username123_country-br_session-sgn34f3e_lifetime-10m", "username123_country-br_session-sgn34f3e_lifetime-10m", Route{}, ""},
	{"NetNut", "USERNAME-res-us-sid-123456789", "USERNAME-res-us", Route{Session: "123456789"}, ""},
	{"SOAX, own keys", "package-123-country-us-sessionid-abc-sessionlength-300", "package-123", Route{}, "sessionid"},
	{"SOAX", "country-us-session-abc", "", Route{Country: "us", Session: "abc"}, ""},
	{"Apify", "groups-RESIDENTIAL,session-my_session,country-US", "", Route{Tag: "residential", Session: "my_session", Country: "us"}, ""},
	{"Apify, any", "auto", "auto", Route{}, ""},
	{"Apify, two groups", "groups-A+B,session-x", "", Route{}, "B"},
	{"ProxyRack", "user;country=US;city=Chicago;session=a1-b2", "user", Route{Country: "us", City: "chicago", Session: "a1-b2"}, ""},
	{"ProxyRack, refresh", "user;country=US;refreshMinutes=5", "user", Route{}, "refreshMinutes"},
	{"WebScrapingAPI", "username+country=us", "username", Route{Country: "us"}, ""},
	{"Webshare", "user-us-1", "user-us-1", Route{}, ""},
	{"Webshare, rotating", "user-rotate", "user-rotate", Route{}, ""},
	{"Infatica", "user_c_US_s_abc", "user_c_US_s_abc", Route{}, ""},
	{"Geonode", "geonode_user123-type-residential-country-us-session-someRandomString-lifetime-5", "geonode_user123-type-residential",
		Route{Country: "us", Session: "someRandomString", TTL: 5 * time.Minute}, ""},
	{"Geonode, excluding", "geonode_user123-not.country-us", "geonode_user123-not.country-us", Route{}, ""},
	{"Geonode, two countries", "geonode_user123-country-us,de", "geonode_user123", Route{}, "de"},
	{"Evomi", "user-country-US-hardsession-ABC123", "user", Route{Country: "us", Session: "ABC123", Strict: true}, ""},
	{"Thordata", "td-customer-USER-sessid-a234234-sesstime-15", "td-customer-USER", Route{Session: "a234234", TTL: 15 * time.Minute}, ""},
	{"StormProxies", "user-cc-us-st-ca-sid-7", "user", Route{Country: "us", Region: "ca", Session: "7"}, ""},
	{"Massive", "USER-session-37", "USER", Route{Session: "37"}, ""},
	{"DataImpulse", "login__cr.au;sessid.123", "login__cr.au;sessid.123", Route{}, ""},
}

func TestUserNamesAsVendorsWriteThem(t *testing.T) {
	for _, c := range dialects {
		name, r, err := Parse(c.user, nil)
		if name != c.name || r != c.route {
			t.Errorf("%s: name %q, %+v", c.vendor, name, r)
		}
		checkKey(t, c.user, err, c.bad)
	}
}

// checkKey wants an *Error that names the key; none if it is "".
func checkKey(t *testing.T, input string, err error, key string) {
	t.Helper()
	var bad *Error
	if errors.As(err, &bad) != (key != "") || bad != nil && (bad.Key != key || !strings.Contains(bad.Error(), key)) {
		t.Errorf("%q: %v, want an error about %q", input, err, key)
	}
}

func TestWhereNameEndsAndKeysBegin(t *testing.T) {
	users := named{"scraper", "scraper-prod", "team-country", "eu-session-1"}
	for _, c := range []struct {
		user  string
		users Users
		name  string
		route Route
		bad   string
	}{
		{"", nil, "", Route{}, ""},
		{"scraper-prod", nil, "scraper-prod", Route{}, ""},
		{"my-proxy", nil, "my-proxy", Route{}, ""}, // a key without a value is a part of a name
		{"mr-strict-x", nil, "mr-strict-x", Route{}, ""},
		{"scraper-", nil, "scraper-", Route{}, ""},
		{"scraper-prod-country-us", nil, "scraper-prod", Route{Country: "us"}, ""},
		{"a-strict-session-b", nil, "a", Route{Strict: true, Session: "b"}, ""},
		{"-country-us", nil, "", Route{Country: "us"}, ""},

		{"scraper", users, "scraper", Route{}, ""},
		{"scraper-prod", users, "scraper-prod", Route{}, ""},
		{"scraper-prod-country-us", users, "scraper-prod", Route{Country: "us"}, ""},
		{"scraper-country-us", users, "scraper", Route{Country: "us"}, ""},
		{"team-country-country-us", users, "team-country", Route{Country: "us"}, ""},
		{"eu-session-1", users, "eu-session-1", Route{}, ""},
		{"eu-session-1-session-2", users, "eu-session-1", Route{Session: "2"}, ""},
		{"scraper-test", users, "scraper", Route{}, "test"},
		{"scraper-country", users, "scraper", Route{}, "country"},
		{"scraper;colour=red", users, "scraper", Route{}, "colour"},
		{"scrapers-country-us", users, "scrapers", Route{Country: "us"}, ""}, // nobody, and that is for others to find
		{"Scraper-country-us", users, "Scraper", Route{Country: "us"}, ""},
	} {
		name, r, err := Parse(c.user, c.users)
		if name != c.name || r != c.route {
			t.Errorf("%q: name %q, %+v", c.user, name, r)
		}
		checkKey(t, c.user, err, c.bad)
	}
	if _, _, err := Parse("scraper-", users); err == nil {
		t.Error("a separator with nothing behind it was accepted")
	}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]Route{
		"session-a-b-c":                      {Session: "a-b-c"},
		"session-a-b-country-us":             {Session: "a-b", Country: "us"},
		"session-a-country":                  {Session: "a-country"},
		"session--x-":                        {Session: "-x-"},
		"session-a-strict":                   {Session: "a", Strict: true},
		"session-so-strict-x":                {Session: "so-strict-x"},
		"session-Ab=":                        {Session: "Ab="},
		"country-st-session-sid":             {Country: "st", Session: "sid"}, // São Tomé
		"COUNTRY-Us+Session=Ab":              {Country: "us", Session: "Ab"},
		"region=us-east+city=San Jose":       {Region: "us-east", City: "san_jose"},
		"city=new-york-session-x":            {City: "new-york", Session: "x"},
		"session-x-ttl-10":                   {Session: "x", TTL: 10 * time.Minute},
		"session-x-ttl-90s":                  {Session: "x", TTL: 90 * time.Second},
		"session-x-lifetime-1h30m":           {Session: "x", TTL: 90 * time.Minute},
		"strict-true-country-us":             {Strict: true, Country: "us"},
		"strict=false;country=us":            {Country: "us"},
		"strict,country-us":                  {Strict: true, Country: "us"},
		"protocol-SOCKS5h":                   {Protocol: "socks5"},
		"protocol-socks4a":                   {Protocol: "socks4"},
		"protocol-https":                     {Protocol: "https"},
		"proxy-R1,provider-Acme,tag-fast":    {Proxy: "r1", Provider: "acme", Tag: "fast"},
		"session_iplock-abc":                 {Session: "abc", Strict: true},
		"city=Zürich;country=ch;session=%2D": {City: "zürich", Country: "ch", Session: "%2D"},
	} {
		if _, r, err := Parse("name;"+text, named{"name"}); err != nil || r != want {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
		var r Route
		if err := ParseHeader(strings.ReplaceAll(text, ";", " ; "), &r); err != nil || r != want {
			t.Errorf("field %q: %+v, %v", text, r, err)
		}
	}
}

func TestBadKeysAreNamed(t *testing.T) {
	long := strings.Repeat("x", 129)
	for text, key := range map[string]string{
		"country-us-colour-red":    "colour",
		"country-us-country-us":    "country",
		"cc-us-country-de":         "country",
		"session-a-sessid-b":       "sessid",
		"country-":                 "country",
		"country-us-city":          "city",
		"session-country-us":       "session",
		"city-new-york":            "york", // only ids hold dashes there
		"country-us=5":             "country",
		"country-" + long:          "country",
		"country-\xff":             "country",
		"session-" + long:          "session",
		"session-ä":                "session",
		"session-a b":              "session",
		"ttl-0":                    "ttl",
		"ttl--5":                   "ttl",
		"ttl-1.5h":                 "ttl",
		"ttl-10m-session-x-ttl-20": "ttl",
		"sesstime-soon":            "sesstime",
		"ttl-99999999999999999999": "ttl",
		"ttl-8d":                   "ttl",
		"ttl-10081":                "ttl",
		"strict=maybe":             "strict",
		"strict-maybe":             "maybe",
		"protocol-ftp":             "protocol",
		"country-us--session-x":    "",
		"country-us-":              "",
		"country-us;\r\nX-Evil=1":  "",
		"country-us-" + long:       "",
		"session-s3cret;s3cret:=1": "",
	} {
		_, r, err := Parse("name-"+text, named{"name"})
		var bad *Error
		if !errors.As(err, &bad) || bad.Key != key || r != (Route{}) {
			t.Errorf("%q: %v, %+v, want an error about %q", text, err, r, key)
			continue
		}
		if strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 200 {
			t.Errorf("%q: the text is not fit to be shown: %q", text, err)
		}
	}
	if _, _, err := Parse(strings.Repeat("-", maxText+1), nil); err != errLong {
		t.Errorf("a text without end: %v", err)
	}
}

func TestHeaderOverrulesTheUserName(t *testing.T) {
	_, r, err := Parse("name-country-us-session-a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ParseHeader("country=de, ttl=90s;", &r); err != nil {
		t.Error(err)
	}
	if want := (Route{Country: "de", Session: "a", TTL: 90 * time.Second}); r != want {
		t.Errorf("%+v", r)
	}
	before := r
	for _, value := range []string{"name", "name;country=us", "country=fr;colour=red", "country=fr country=it", strings.Repeat("x", 1025)} {
		if err := ParseHeader(value, &r); err == nil || r != before {
			t.Errorf("%q: %v, %+v", value, err, r)
		}
	}
	for _, value := range []string{"", " ;", "\t"} {
		if err := ParseHeader(value, &r); err != nil || r != before {
			t.Errorf("%q: %v, %+v", value, err, r)
		}
	}
}

func TestSessionField(t *testing.T) {
	r := Route{Country: "us", Session: "old"}
	if err := ParseSession(" me@example.org:7/a-country-de ", &r); err != nil || r.Session != "me@example.org:7/a-country-de" || r.Country != "us" {
		t.Errorf("%+v, %v", r, err)
	}
	before := r
	for _, value := range []string{"", " ", "a b", "a,b", "a;b", "a+b", "ä", "a\x00", strings.Repeat("x", 129)} {
		err := ParseSession(value, &r)
		checkKey(t, value, err, "session")
		if r != before {
			t.Errorf("%q: %+v", value, r)
		}
	}
}
