package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"swivel/pool"
)

// fetchTimeout bounds the fetch of a list; maxFetched is how long one may be.
const (
	fetchTimeout = 30 * time.Second
	maxFetched   = 64 << 20
)

// listClient fetches lists, directly: the variables that make clients use a proxy
// may well name this one.
var listClient = &http.Client{
	Timeout:       fetchTimeout,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: checkRedirect,
}

// checkRedirect follows a few steps, none of which makes the list readable to
// others on the way.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > 5 {
		return redirectError("it redirects too often")
	}
	if !isURL(next.URL.String()) || next.URL.Host == "" {
		return redirectError("it redirects to what is no http or https URL")
	}
	if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return redirectError("it redirects from https to http")
	}
	next.Header.Del("Referer") // it would have the query, and with that often the secret
	return nil
}

// version is how a server names a state of a list. The zero value is none.
type version struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"` // as Last-Modified has it
}

// errNotModified: the list is still in the state that was named.
var errNotModified = errors.New("the server says that the list has not changed")

// fetch reads what is at a URL now, unless it is still what the version names
// (RFC 9110 section 13.1).
func fetch(ctx context.Context, source string, known version) (body []byte, now version, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, now, errors.New("the URL is malformed")
	}
	if r.URL.Host == "" {
		return nil, now, errors.New("the URL names no host")
	}
	r.Header.Set("User-Agent", "swivel")
	if known.ETag != "" {
		r.Header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		r.Header.Set("If-Modified-Since", known.Modified)
	}
	resp, err := listClient.Do(r)
	if err != nil {
		return nil, now, fmt.Errorf("cannot be fetched: %w", unfetched(err))
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && known != version{}:
		return nil, known, errNotModified
	case resp.StatusCode != http.StatusOK:
		return nil, now, fmt.Errorf("cannot be fetched: the server answered %d", resp.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxFetched+1))
	switch {
	case err != nil:
		return nil, now, fmt.Errorf("cannot be fetched: %w", unfetched(err))
	case len(body) > maxFetched:
		return nil, now, fmt.Errorf("is longer than %d MiB", maxFetched>>20)
	}
	return body, version{ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified")}, nil
}

// parseFetched reads a list that came from a URL. Whoever writes it is not to
// learn what is in the environment, so variables are not filled in. That its last
// line has no end means nothing: HTTP says whether all has come.
func parseFetched(r io.Reader) (pool.List, error) {
	list, err := pool.ParseList(r, nil)
	list.Unfinished = false
	return list, err
}
