package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestChangedKeysAreNamed(t *testing.T) {
	a := Default()
	b := Default()
	b.Proxies, b.Bans.Statuses, b.Users = []string{"x"}, []int{}, []string{}
	b.Attempts.HedgeAfter = Hedge{Off: true}
	b.Log.Level = "warn"
	if got := Changed(a, b); !slices.Equal(got, []string{"proxies", "attempts.hedge_after", "log.level"}) {
		t.Errorf("%q", got)
	}
	if got := Changed(a, a); got != nil {
		t.Errorf("%q", got)
	}
}

func TestNoKeyIsForgotten(t *testing.T) {
	var want []string
	keys(reflect.ValueOf(Config{}), nil, func(path []string, _ reflect.Value) { want = append(want, strings.Join(path, ".")) })
	var got []string
	walk(reflect.ValueOf(Config{}), "", func(key string, _ reflect.Value, _ []int) { got = append(got, key) }, nil)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
