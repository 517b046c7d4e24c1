package pool

import (
	"os"
	"strings"
	"testing"
)

// exampleFile shows users every form of a line, so it has to work as it is.
const exampleFile = "../proxies.example.txt"

func readExample(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestExampleListIsUsedInFull(t *testing.T) {
	text := readExample(t)
	list, err := ParseList(strings.NewReader(text), nil)
	if err != nil || len(list.Skipped) != 0 || list.Merged != 0 || list.Unfinished {
		t.Fatalf("skipped %v, merged %d, unfinished %v, %v", list.Skipped, list.Merged, list.Unfinished, err)
	}
	// The line with a variable is commented out, but must work as well.
	text = strings.Replace(text, "#http://user:${", "http://user:${", 1)
	withVariable := parseText(t, text)
	if len(withVariable.Skipped) != 0 || len(withVariable.Specs) != len(list.Specs)+1 {
		t.Errorf("with the variable: %d specs, skipped %v", len(withVariable.Specs), withVariable.Skipped)
	}
}

func TestExampleListShowsEveryForm(t *testing.T) {
	text := readExample(t)
	for _, form := range []string{
		"\nproxy-a.example:8080\n", "\n[2001:db8::1]:8080\n", "\nproxy-b.example:8080:user:", "\n[2001:db8::2]:8080:user:",
		"\nuser:password:proxy-c", "\nuser:p%40ss@proxy-d", "\nhttp://proxy-e.example\n", "\nhttps://user:password@",
		"\nsocks4://", "\nsocks4a://", "\nsocks5://user:password@", "\nsocks5h://", "\nsocks://[", "\nsocks5://proxy-k.example:1080:user:",
		"\nsocks5://user:password:", "\nsocks5 proxy-m.example 1080\n", "\nsocks5 proxy-n.example 1080 user password\n", "\nproxy-u.example 8080\n", " DE elite SOCKS5\n", "\nuser@proxy-o",
		":10001-10010:", "${PROXY_PASSWORD}", "{session}", "{country}", "{region}", "{city}", "{random}", " rotating\n", `city="`, " # ",
	} {
		if !strings.Contains(text, form) {
			t.Errorf("%q is not shown", form)
		}
	}
	for key := range setters {
		if !strings.Contains(text, " "+key+"=") && key != "rotating" {
			t.Errorf("the key %s is not shown", key)
		}
	}
}

func TestExampleListMeansWhatItSays(t *testing.T) {
	list := parseText(t, readExample(t))
	byHost := map[string]*Spec{}
	schemes := map[Scheme]bool{}
	for _, s := range list.Specs {
		byHost[s.Host] = s
		schemes[s.Scheme] = true
	}
	for host, want := range map[string][2]string{
		"proxy-b.example": {"user", "p%ss:word"}, "proxy-c.example": {"user", "password"}, "proxy-d.example": {"user", "p@ss"},
		"proxy-k.example": {"user", "password"}, "proxy-l.example": {"user", "password"}, "proxy-n.example": {"user", "password"},
		"proxy-o.example": {"user", ""}, "gateway-a.example": {"user", "password"},
		"gateway-b.example": {"user-country-{country}-session-{session}", "password"},
	} {
		if s := byHost[host]; s.User != want[0] || s.Password.Reveal() != want[1] || !s.HasAuth {
			t.Errorf("%s: %q %q", host, s.User, s.Password.Reveal())
		}
	}
	if len(schemes) != int(SOCKS5H)+1 {
		t.Errorf("schemes %v", schemes)
	}
	if s := byHost["proxy-q.example"]; s.City != "Bad Homburg" || len(s.Tags) != 2 || s.Weight != 2.5 {
		t.Errorf("city %q, tags %q, weight %v", s.City, s.Tags, s.Weight)
	}
	if !byHost["gateway-b.example"].Rotating || byHost["gateway-a.example"].Port != 10010 {
		t.Error("gateways")
	}
}
