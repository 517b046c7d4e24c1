package pool

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"swivel/pool/route"
)

// TestTheCatalogueOverlooksNobody compares what it finds with a look at all.
func TestTheCatalogueOverlooksNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"", "", "a", "b", "C d", "E"})
		var specs []*Spec
		for i := range rapid.IntRange(0, 30).Draw(t, "members") {
			s := &Spec{
				Host: "192.0.2.1", Port: uint16(1 + i), Weight: 1, Scheme: rapid.SampledFrom([]Scheme{HTTP, SOCKS5, SOCKS5H}).Draw(t, "scheme"),
				Country: value.Draw(t, "country"), Region: value.Draw(t, "region"), City: value.Draw(t, "city"), Provider: value.Draw(t, "provider"),
				Name: value.Draw(t, "name"), Tags: []string{value.Draw(t, "tag"), value.Draw(t, "other tag")},
				User: rapid.SampledFrom([]string{"", "", "", "u-{country}", "u-{city}-{region}", "u-{session}"}).Draw(t, "user"),
			}
			specs = append(specs, s)
		}
		p := newTestPool(specs)
		asked := rapid.SampledFrom([]string{"", "", "", "a", "b", "c_d", "e", "nobody"})
		c := route.Constraints{
			Country: asked.Draw(t, "asked country"), Region: asked.Draw(t, "asked region"), City: asked.Draw(t, "asked city"),
			Provider: asked.Draw(t, "asked provider"), Tag: asked.Draw(t, "asked tag"), Proxy: asked.Draw(t, "asked proxy"),
			Protocol: rapid.SampledFrom([]string{"", "", "http", "socks5", "https"}).Draw(t, "asked protocol"),
		}
		if c.Proxy == "e" && len(specs) > 0 {
			c.Proxy = string(p.Proxies()[len(specs)/2].ID)
		}
		var want []*Proxy
		for _, m := range p.Proxies() {
			if m.fits(c) {
				want = append(want, m)
			}
		}
		if got := p.current.Load().view(c, Weighted, atOnce).members; !slices.Equal(got, want) {
			t.Fatalf("%+v: %d members, want %d", c, len(got), len(want))
		}
	})
}

func TestToAskForWhatNobodyHasCostsNoLookAtThePool(t *testing.T) {
	s := varied(5000).current.Load()
	for _, c := range []route.Constraints{
		{Country: "xx"}, {Country: "de", City: "nowhere"}, {Protocol: "socks5", Country: "de"}, {Tag: "x"}, {Proxy: "nobody"}, {Provider: "x"},
	} {
		if places := s.candidates(c); len(places) != 0 {
			t.Errorf("%+v: %d are looked at", c, len(places))
		}
	}
	if places := s.candidates(route.Constraints{Country: "de", City: "city4"}); len(places) != 50 {
		t.Errorf("%d are looked at for a city of 50", len(places))
	}
	if places := s.candidates(route.Constraints{Proxy: string(s.proxies[9].ID)}); len(places) != 1 {
		t.Errorf("%d are looked at for one", len(places))
	}
}

// TestToAskForEverNewThingsDoesNotFillTheMemory asks for what a large part of the
// pool has, and for what nobody has.
func TestToAskForEverNewThingsDoesNotFillTheMemory(t *testing.T) {
	specs := ones(400)
	for i := range specs {
		for tag := range 40 {
			specs[i].Tags = append(specs[i].Tags, fmt.Sprint("t", tag))
		}
		specs[i].Country = "de"
	}
	p := newTestPool(specs)
	s := p.current.Load()
	for i := range 3 * maxViews {
		r := route.Route{Tag: fmt.Sprint("t", i%40), Country: []string{"de", "", "nobody"}[i%3]}
		x, _, _ := p.Begin(Request{Target: "a.test:1", Route: r}, epoch)
		if l, _, ok := x.Next(epoch, leaseTime, true); ok != (r.Country != "nobody") || ok && l.Proxy.Spec.Country != "de" {
			t.Fatalf("%+v: served %v", r, ok)
		}
		held := 0
		for _, v := range s.views.by {
			held += len(v.members)
		}
		if held != s.views.held || held > s.views.room || len(s.views.by) > maxViews {
			t.Fatalf("%d views hold %d members and are said to hold %d", len(s.views.by), held, s.views.held)
		}
	}
	if s.views.by[route.Constraints{}] != s.all {
		t.Error("the view of all is gone")
	}
}

func TestAReloadPreparesWhatIsAskedFor(t *testing.T) {
	p := varied(100)
	begun := func() *Exchange {
		x, _, _ := p.Begin(Request{Target: "a.test:1", Route: route.Route{City: "city7"}}, epoch)
		return x
	}
	next(t, begun(), epoch)
	specs := []*Spec{p.Proxies()[7].Spec, p.Proxies()[8].Spec}
	p.Replace(specs, epoch)
	if v := p.current.Load().views.find(route.Constraints{City: "city7"}); v == nil || len(v.members) != 1 {
		t.Errorf("the view is %+v", v)
	}
	if l := next(t, begun(), epoch); l.Proxy.Spec.City != "city7" {
		t.Error("another city")
	}
}

func TestAnExchangeDoesNotRelyOnAForgottenView(t *testing.T) {
	specs := weighted(1, 1)
	for _, s := range specs {
		s.Country = "us"
	}
	p := newTestPool(specs)
	ask := func(country string) *Exchange {
		x, _, _ := p.Begin(Request{Target: "a.test:443", Route: route.Route{Country: country}}, epoch)
		return x
	}
	x := ask("us")
	first := next(t, x, epoch)
	x.Fail(first, Fault{Signal: DialRefused}, epoch)
	for i := range maxViews {
		_, _, _ = ask(strconv.Itoa(i)).Next(epoch, leaseTime, false)
	}
	p.Pause(p.Proxies(), Pause{Reason: "maintenance", At: epoch})
	if l, _, ok := x.Next(epoch, leaseTime, false); ok {
		t.Errorf("leased %d, which is paused", l.Proxy.Spec.Port)
	}
}
