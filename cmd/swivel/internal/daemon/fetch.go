package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
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
		return errors.New("it redirects too often")
	}
	if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("it redirects from https to http")
	}
	return nil
}

// isURL says whether a list is fetched, and not a file.
func isURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// labelOf is what messages call a list. Of a URL it is the host only, for user,
// path and query are where vendors put the secret that opens the list.
func labelOf(source string) string {
	if !isURL(source) {
		return source
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" {
		return "a URL"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// fetch reads the list at a URL. That its last line has no end means nothing
// there: HTTP says whether all has come.
func fetch(ctx context.Context, source string) (pool.List, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return pool.List{}, errors.New("the URL is malformed")
	}
	r.Header.Set("User-Agent", "swivel")
	resp, err := listClient.Do(r)
	if err != nil {
		return pool.List{}, fmt.Errorf("cannot be fetched: %w", withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return pool.List{}, fmt.Errorf("cannot be fetched: the server answered %d", resp.StatusCode)
	}
	body := &io.LimitedReader{R: resp.Body, N: maxFetched + 1}
	list, err := pool.ParseList(body, os.LookupEnv)
	if body.N == 0 {
		return pool.List{}, fmt.Errorf("is longer than %d MiB", maxFetched>>20)
	}
	list.Unfinished = false
	return list, err
}

// withoutURL takes the URL out of an error of net/http, as it may be a secret.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
