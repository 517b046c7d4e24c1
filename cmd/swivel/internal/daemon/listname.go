package daemon

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// isURL says whether a list is fetched, and not a file. A scheme is the same in
// capitals (RFC 3986 section 3.1).
func isURL(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// ListLabels is what messages call lists, whatever was given for their names. Files
// are called by their paths, URLs as urlLabel has it, and what may hold a secret is
// not shown.
func ListLabels(names []string) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		switch {
		case isURL(name):
			labels[i] = urlLabel(name)
		case isHidden(names, i):
			labels[i] = "REDACTED"
		default:
			labels[i] = name
		}
	}
	return labels
}

// urlLabel is the host only, for user, path and query are where vendors put the
// secret that opens the list.
func urlLabel(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" {
		return "a URL"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// isHidden says whether a name that is no URL is not to be shown: no file is called
// so, and it looks like an address, or follows one of which it may be what stood
// behind a comma.
func isHidden(names []string, i int) bool {
	for ; i >= 0 && !exists(names[i]); i-- {
		if isURL(names[i]) || looksLikeAddress(names[i]) {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// looksLikeAddress says whether something that is not the name of a file may be a
// proxy, or a URL in which something is wrong.
func looksLikeAddress(name string) bool {
	if strings.ContainsAny(name, `@?=&:"'`) || strings.Contains(name, "//") {
		return true
	}
	for i, word := range strings.Fields(name) { // host port user password, maybe behind a protocol
		if _, err := strconv.ParseUint(word, 10, 16); err == nil && (i == 1 || i == 2) {
			return true
		}
	}
	return false
}

// hiddenName is what is wrong with the list at an index, whose name is not shown.
func hiddenName(i int) error {
	return fmt.Errorf("proxies: list %d: no such file; its name is not shown, as it looks like an address or a part of one: "+
		"proxies stand in a file that is named here, the URL of a list begins with http:// or https:// and has no quotes around it, "+
		"and a comma in it is written %%2C", i+1)
}
