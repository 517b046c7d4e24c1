package integration

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
)

// toyLines have credentials for every scheme, and every way to fail.
func (s *secretsTest) toyLines(t *testing.T) []string {
	closed := func() string { return newToy(t, "127.0.0.34").hostPort }
	toyAt := func(behave func(net.Conn)) string {
		y := newToy(t, "127.0.0.34")
		y.open(t, behave)
		return y.hostPort
	}
	uri := func(scheme, place, hostPort string) string {
		return scheme + "://" + s.secret(place).userinfo() + "@" + hostPort + " name=" + place
	}
	lines := []string{
		uri("http", "Sound", toyAt(carry)),
		uri("http", "Plain", toyAt(answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))),
		uri("http", "Refused", toyAt(answer("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"))),
		uri("http", "Garbage", toyAt(answer("what?\r\n\r\n"))),
		uri("http", "HangsUp", toyAt(hangUp)),
		uri("http", "NoName", "no-such-host.invalid:8080"),
		uri("https", "TLS", toyAt(answer("this is no TLS"))),
		uri("https", "Untrusted", s.untrusted(t)),
	}
	for _, scheme := range []string{"http", "https", "socks4", "socks4a", "socks5", "socks5h"} {
		lines = append(lines, uri(scheme, "Dead"+scheme, closed()))
	}
	return lines
}

// realLines are real proxies with right and wrong passwords.
func (s *secretsTest) realLines(t *testing.T) []string {
	s.secrets = append(s.secrets, secret{user: peerUser, core: peerCore, password: peerPassword})
	squid, microsocks := startSquid(t, nil), startMicrosocks(t, nil)
	wrong := func(line, place string) string {
		right := url.UserPassword(peerUser, peerPassword).String()
		return strings.Replace(line, right, s.secret(place).userinfo(), 1) + " name=" + place
	}
	return []string{squid.line, microsocks.line, wrong(squid.line, "WrongHTTP"), wrong(microsocks.line, "WrongSOCKS")}
}

// badLines cannot be used, which has to be told without quoting them.
func (s *secretsTest) badLines() []string {
	bad := func(format, place string) string { return fmt.Sprintf(format, s.secret(place).userinfo()) }
	colons := s.secret("Colons")
	return []string{
		bad("http://%s@127.0.0.1:99999", "BadPort"),
		bad("http://%s@127.0.0.1:80 weight=heavy", "BadWeight"),
		bad("http://%s@127.0.0.1:80 colour=red", "BadKey"),
		bad("gopher://%s@127.0.0.1:80", "BadScheme"),
		bad("http://%s@:80", "NoHost"),
		bad("%s", "NoAddress"),
		bad("http://%s@127.0.0.1:80 and then some", "BareWord"),
		bad("http://%s", "NoAt"),
		bad("socks5 127.0.0.1 eighty user %s", "ProxyChains"),
		"127.0.0.1:x:" + colons.user + ":" + colons.password,
		"http://" + s.secret("Variable").userinfo() + "${NO_SUCH_VARIABLE}@127.0.0.1:80",
	}
}

// untrusted is a TLS server whose certificate nobody trusts.
func (s *secretsTest) untrusted(t *testing.T) string {
	return serveOrigin(t, "127.0.0.34", newAuthority(t).serverConfig(t, "127.0.0.34"))
}
