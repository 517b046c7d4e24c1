package pool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const leak = "s3cret"

func TestSecretIsRedactedByEveryVerb(t *testing.T) {
	secret := Secret(leak)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s", "%T %v"} {
		args := []any{secret}
		if verb == "%T %v" {
			args = []any{secret, secret}
		}
		got := fmt.Sprintf(verb, args...)
		if !strings.Contains(got, "REDACTED") || strings.Contains(got, "s3c") || strings.Contains(got, "733363") {
			t.Errorf("%s: %s", verb, got)
		}
	}
	text, err := secret.MarshalText()
	if s := secret.String() + secret.GoString() + string(text); s != "REDACTEDREDACTEDREDACTED" || err != nil {
		t.Errorf("%s, %v", s, err)
	}
	if got := secret.Reveal(); got != leak {
		t.Errorf("Reveal() = %q", got)
	}
}

func TestSecretIsRedactedInsideOtherValues(t *testing.T) {
	type account struct {
		Name     string
		Password Secret
		Old      []Secret
		ByName   map[string]Secret
		Pointer  *Secret
	}
	secret := Secret(leak)
	a := account{"a", secret, []Secret{secret}, map[string]Secret{"x": secret}, &secret}
	printed := []string{
		fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a), fmt.Sprintf("%+v", &a), fmt.Sprintf("%q", a),
		fmt.Sprint([]any{a}), errors.Join(fmt.Errorf("account %+v", a)).Error(),
	}
	for _, v := range []any{a, &a, secret} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, string(data))
	}
	for _, p := range printed {
		if strings.Contains(p, leak) || !strings.Contains(p, "REDACTED") {
			t.Errorf("leaks: %s", p)
		}
	}
}

func TestEmptySecretDoesNotTellThatItIsEmpty(t *testing.T) {
	if got := fmt.Sprintf("%v%s%q", Secret(""), Secret(""), Secret("")); got != "REDACTEDREDACTEDREDACTED" {
		t.Error(got)
	}
}

func TestPrintedSpecShowsNoCredentials(t *testing.T) {
	s := mustLine(t, "socks5://us3r:s3cret@proxy.example:1080 name=n")
	type holder struct {
		Spec  Spec
		Specs []*Spec
	}
	h := holder{s, []*Spec{&s}}
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{
		string(data), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), fmt.Sprintf("%v %+v %#v", h, h, h),
		fmt.Sprint(&s), s.Label(), s.Address(),
	} {
		if strings.Contains(p, leak) || strings.Contains(p, "us3r") {
			t.Errorf("leaks: %s", p)
		}
	}
	if got, want := s.String(), "socks5://REDACTED@proxy.example:1080"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestPasswordThatLooksLikeAVariableIsNotQuoted(t *testing.T) {
	for line, quoted := range map[string]bool{"h:1:user:pa${ss}word": false, "h:1:user:${PASSWORD}": true} {
		_, err := ParseLine(line, func(string) (string, bool) { return "", false })
		if err == nil || strings.Contains(err.Error(), "ss is not") || strings.Contains(err.Error(), "PASSWORD") != quoted {
			t.Errorf("%s: %v", line, err)
		}
	}
	specs, err := ParseLine("user:pa%24{ss}word@h:1", nil)
	if err != nil || specs[0].Password.Reveal() != "pa${ss}word" {
		t.Errorf("the way that the message shows: %v", err)
	}
}
