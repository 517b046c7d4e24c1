// Package redis keeps what the instances of a fleet share in Redis or Valkey.
//
// A [Hub] is where they meet: each tells what it found out and asks what the
// others did, in one script that runs at the server, so that whatever the order
// of the calls all come to know the same. A [Store] has the contract of every
// other store. Neither is waited for by a request.
//
// All keys begin with a prefix and lapse after a day without use.
//
//	client, err := redis.Open("redis://:password@127.0.0.1:6379")
//	defer client.Close()
//	answer, err := client.Hub(ctx).Sync(ctx, storage.Sync{...})
package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Timeout bounds every call: who does not answer within it counts as away.
const Timeout = time.Second

// day is how long a key is kept that nobody uses.
const day = 24 * time.Hour

// errAddress does not repeat the address, which may hold a password.
var errAddress = errors.New("want an address such as redis://:PASSWORD@127.0.0.1:6379/0, rediss://HOST, or unix:///run/redis.sock")

// Client is a connection to a server, made when it is needed and as often as it
// is needed. It is safe for concurrent use.
type Client struct {
	redis   *redis.Client
	prefix  string
	timeout time.Duration
}

// quiet takes what the library would print: the caller says what is worth a line.
type quiet struct{}

// Printf implements the library's logger.
func (quiet) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(quiet{}) }

// Check says what is wrong with an address, or nil.
func Check(address string) error {
	_, _, err := parse(address)
	return err
}

// parse takes an address apart. What stands behind a # names the fleet, of which
// one server may have several.
func parse(address string) (*redis.Options, string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "unix" && u.Host == "" || u.Scheme == "unix" && u.Path == "" {
		return nil, "", errAddress
	}
	name := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	if strings.ContainsFunc(name, func(c rune) bool { return !isNameRune(c) }) || len(name) > 64 {
		return nil, "", errors.New("want letters, digits, - and _ behind the #, as the name of the fleet")
	}
	options, err := redis.ParseURL(u.String())
	if err != nil || options.DB < 0 {
		return nil, "", errAddress
	}
	if port := u.Port(); port != "" { // which the library does not look at
		if _, err := net.LookupPort("tcp", port); err != nil {
			return nil, "", errAddress
		}
	}
	prefix := "swivel:"
	if name != "" {
		prefix += name + ":"
	}
	return options, prefix, nil
}

func isNameRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// Open returns a client for the server at an address; see Check. It does not
// connect yet.
func Open(address string) (*Client, error) { return open(address, Timeout) }

func open(address string, timeout time.Duration) (*Client, error) {
	o, prefix, err := parse(address)
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout, timeout
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // the caller has its own pace, and knows more by then
	o.DialerRetries = 1
	o.PoolSize, o.MinIdleConns = 4, 0
	o.Protocol, o.DisableIdentity = 2, true // what every server of the last years speaks
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &Client{redis: redis.NewClient(o), prefix: prefix, timeout: timeout}, nil
}

// Close ends the connections.
func (c *Client) Close() error { return c.redis.Close() }

func (c *Client) key(name string) string { return c.prefix + name }

// explain makes an error fit for a log: without the library's own words, and
// saying what does not work.
func explain(err error) error {
	var op *net.OpError
	var reply redis.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fmt.Errorf("redis: no answer within %v", Timeout)
	case errors.As(err, &certificate):
		return fmt.Errorf("redis: its certificate is not accepted: %w", certificate.Err)
	case errors.As(err, &op):
		return fmt.Errorf("redis: %s: %w", op.Op, op.Err)
	case errors.As(err, &reply):
		return fmt.Errorf("redis: it says %s", reply.Error())
	}
	return fmt.Errorf("redis: %w", err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
