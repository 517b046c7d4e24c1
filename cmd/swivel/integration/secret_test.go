package integration

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// secret is a credential that the daemon is given and must show nobody. Its
// core holds only letters and digits, so that it stands as it is in every
// quoted, escaped or percent-encoded form of the password.
type secret struct {
	user, core, password string
}

// newSecret makes one whose core says where it leaked from. The password holds
// what list lines, URIs and JSON treat in their own ways.
func newSecret(place string) secret {
	core := "SeCrEt" + place + "7Qz"
	return secret{user: "user-" + place, core: core, password: `:@"` + core + "%/<"}
}

func (s secret) userinfo() string { return url.UserPassword(s.user, s.password).String() }

// forms are the byte strings that give the secret away.
func (s secret) forms() map[string][]byte {
	all := map[string][]byte{
		"as it is": []byte(s.core),
		"as hex":   []byte(hex.EncodeToString([]byte(s.core))),
	}
	for name, text := range map[string]string{
		"password": s.password, "user:password": s.user + ":" + s.password, "core": s.core,
	} {
		for alphabet, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			// Whole groups of three bytes only: what follows the text in a
			// larger one decides about the last letters.
			whole := len(text) / 3 * 3
			all[name+" as "+alphabet] = []byte(encoding.EncodeToString([]byte(text[:whole])))
		}
	}
	return all
}

// foundIn says in which form text holds the secret; empty if in none.
func (s secret) foundIn(text []byte) string {
	lower := bytes.ToLower(text)
	for name, form := range s.forms() {
		if bytes.Contains(text, form) {
			return name
		}
		if strings.HasPrefix(name, "as ") && bytes.Contains(lower, bytes.ToLower(form)) {
			return name + ", in another case"
		}
	}
	return ""
}
