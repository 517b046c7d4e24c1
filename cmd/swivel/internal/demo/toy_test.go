package demo_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/demo"
	"swivel/pool/upstream/listentest"
)

// sound makes all living toys work from the start.
var sound = demo.Options{FlakyFor: time.Nanosecond}

func TestTheSiteIsVerifiedThroughATunnel(t *testing.T) {
	r := newRig(t, sound, nil)
	seen := map[string]bool{}
	for range 20 {
		seen[r.get(t, "https://swivel.test/")] = true
		r.client.CloseIdleConnections() // else all go through one tunnel
	}
	if len(seen) < 2 {
		t.Errorf("tunnels do not rotate: %v", seen)
	}
	resp, err := (&http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.daemon.Addr().String()}),
	}}).Get("https://swivel.test/")
	if err == nil {
		_ = resp.Body.Close()
		t.Error("a client that was not told to trusts the certificate")
	}
}

// direct returns a client of one living toy.
func direct(t *testing.T) *http.Client {
	t.Helper()
	d, err := demo.Start(t.Context(), sound)
	if err != nil {
		t.Fatal(err)
	}
	specs := d.Specs()
	client := newClient(t, specs[3].Address(), d.CAFile())
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func TestPlainRequestsAreForwardedAsTheyAre(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Saw", fmt.Sprintf("%s %s %q %s", r.Method, r.URL.RequestURI(), r.Header["X-Forwarded-For"], r.Header.Get("Accept-Encoding")))
		_ = http.NewResponseController(w).EnableFullDuplex() // answer while the body comes in
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(origin.Close)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for name, client := range map[string]*http.Client{"a toy": direct(t), "swivel": newRig(t, sound, nil).client} {
		req, err := http.NewRequest(http.MethodPost, origin.URL+"/a?b;c=%zz", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", "192.0.2.1")
		req.Header.Set("Accept-Encoding", "identity")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusTeapot || !bytes.Equal(got, sent) {
			t.Errorf("through %s: status %d, %d bytes, %v", name, resp.StatusCode, len(got), err)
		}
		if saw, want := resp.Header.Get("X-Saw"), `POST /a?b;c=%zz ["192.0.2.1"] identity`; saw != want {
			t.Errorf("through %s the origin saw %s, want %s", name, saw, want)
		}
	}
}

func TestATunnelToARealTargetIsHalfClosed(t *testing.T) {
	target := echoAtEnd(t)
	r := newRig(t, sound, nil)
	specs := r.toys.Specs()
	for name, proxy := range map[string]string{"a toy": specs[3].Address(), "swivel": r.daemon.Addr().String()} {
		conn, err := net.Dial("tcp", proxy)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nsent early, ", target, target)
		br := bufio.NewReader(conn)
		resp, err := http.ReadResponse(br, &http.Request{Method: http.MethodConnect})
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(name, resp, err)
		}
		_, _ = io.WriteString(conn, "and late")
		_ = conn.(*net.TCPConn).CloseWrite()
		if got, err := io.ReadAll(br); err != nil || string(got) != "sent early, and late" {
			t.Errorf("through %s: %q, %v", name, got, err)
		}
	}
}

// echoAtEnd answers with all it was sent once the client has ended.
func echoAtEnd(t *testing.T) (address string) {
	t.Helper()
	return listentest.Serve(t, func(conn net.Conn) {
		all, _ := io.ReadAll(conn)
		_, _ = conn.Write(all)
	})
}

func TestAnUnreachableTargetIsBlamedByTheToy(t *testing.T) {
	resp, err := direct(t).Get("http://" + listentest.Reserved(t, "127.0.0.1").String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := resp.Header.Get("Proxy-Status"); resp.StatusCode != http.StatusBadGateway || got != "good; error=destination_unavailable" {
		t.Errorf("status %d, Proxy-Status %q", resp.StatusCode, got)
	}
}

func TestAToyIsNoOrigin(t *testing.T) {
	d, err := demo.Start(t.Context(), sound)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	specs := d.Specs()
	resp, err := http.Get("http://" + specs[3].Address() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "good is a proxy") {
		t.Errorf("status %d, %q", resp.StatusCode, text)
	}
}
