package route

import (
	"errors"
	"net"
	"strconv"
	"strings"
)

// Target reads what a person means by a target: host, host:port or an http or
// https URL. It returns host:port, with 443 where nothing says otherwise, in the
// form in which exchanges name it.
func Target(text string) (string, error) {
	port := "443"
	if rest, ok := cutFold(text, "http://"); ok {
		text, port = rest, "80"
	} else if rest, ok := cutFold(text, "https://"); ok {
		text = rest
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	host := text
	if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.ParseUint(port, 10, 16); host == "" || err != nil || n == 0 || strings.ContainsAny(host, " @[]\t\r\n") {
		return "", errors.New("want host, host:port or a URL")
	}
	return net.JoinHostPort(strings.ToLower(host), port), nil
}

func cutFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}
