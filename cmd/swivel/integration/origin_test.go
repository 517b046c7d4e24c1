package integration

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// origin is the web server behind all proxies, with and without TLS:
//
//	/ip       the source address of the connection
//	/echo     the request's body
//	/bytes/N  N bytes
type origin struct {
	http, https string // base URLs
	ca          *authority
}

func newOrigin(t testing.TB) *origin {
	t.Helper()
	o := &origin{ca: newAuthority(t)}
	const address = "127.0.0.1"
	o.http = "http://" + serveOrigin(t, address, nil)
	o.https = "https://" + serveOrigin(t, address, o.ca.serverConfig(t, address))
	return o
}

func serveOrigin(t testing.TB, address string, secure *tls.Config) string {
	t.Helper()
	return serveSite(t, address, secure, originHandler())
}

// serveSite returns the host and port on which it serves until the test ends.
func serveSite(t testing.TB, address string, secure *tls.Config, site http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	hostPort := ln.Addr().String()
	if secure != nil {
		ln = tls.NewListener(ln, secure)
	}
	server := &http.Server{
		Handler: site, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // clients that do not trust it are part of the tests
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return hostPort
}

func originHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ip", func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		_, _ = io.WriteString(w, host+"\n")
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		// All of it first: Go's server stops reading once an answer has begun.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 10<<20))
		if err != nil {
			return
		}
		_, _ = w.Write(body)
	})
	mux.HandleFunc("/bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n < 0 || n > 10<<20 {
			http.Error(w, "want a number", http.StatusBadRequest)
			return
		}
		_, _ = w.Write(bytes.Repeat([]byte("b"), n))
	})
	return mux
}
