package metrics

import (
	"net/http"
	"strconv"
)

// kinds are the words of eventlog.Exchange.Kind.
var kinds = [...]string{"connect", "plain", "socks5", "socks4"}

func kindOf(word string) int {
	for i, kind := range kinds {
		if kind == word {
			return i
		}
	}
	return 1 // whatever cannot be understood is answered as a plain request
}

// statusClientGone is what the log says when nobody was there to be told.
const statusClientGone = 499

// Statuses are numbers from 100 to 999, and a target may make up its own: what
// is not registered counts as its class.
const statuses = 1000

func statusIndex(status int) int {
	switch {
	case status < 100 || status >= statuses:
		return 0
	case http.StatusText(status) == "" && status != statusClientGone:
		return status / 100
	}
	return status
}

// statusWord is the label of an index.
func statusWord(i int) string {
	switch {
	case i == 0:
		return "none"
	case i < 10:
		return strconv.Itoa(i) + "xx"
	}
	return strconv.Itoa(i)
}
