package daemon

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/upstream/listentest"
)

func TestWhatAServerSentWasQuotedWhenItsListCouldNotBeFetched(t *testing.T) {
	const noURL, noHTTP = "it redirects to what is no URL", "does not answer in HTTP that can be understood"
	redirect := func(location string) string {
		return "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + "\r\n\r\n"
	}
	for answer, want := range map[string]string{
		redirect("http://x/%zzs3cret"):                                          noURL,
		redirect("http://x:s3cret/"):                                            noURL,
		redirect("http://x s3cret/"):                                            noURL,
		redirect("http://[::1/s3cret"):                                          noURL,
		redirect("s3cret://x/s3cret"):                                           "it redirects to what is no http or https URL",
		redirect("http:///s3cret"):                                              "it redirects to what is no http or https URL",
		redirect("http://127.0.0.1:99999/s3cret"):                               "its server cannot be reached",
		"s3cret\r\n\r\n":                                                        noHTTP,
		"HTTP/1.1 s3cret\r\n\r\n":                                               noHTTP,
		"HTTP/1.1 200 OK\r\ns3cret\r\n\r\n":                                     noHTTP,
		"HTTP/1.1 200 OK\r\nContent-Length: s3cret\r\n\r\n":                     noHTTP,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: s3cret\r\n\r\n":                  noHTTP,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cret\r\n\r\n\r": noHTTP,
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ns3cret":                    "ended before the whole answer was there",
		"": "ended before the whole answer was there",
	} {
		address := listentest.Serve(t, func(conn net.Conn) {
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			buf := make([]byte, 4096)
			_, _ = conn.Read(buf)
			_, _ = io.WriteString(conn, answer)
		})
		_, err := ReadLists([]string{"http://" + address + "/s3cret"}, breaker.DefaultSettings())
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "proxies: http://"+address+"/…: cannot be fetched: ") {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

func TestWhyAListCannotBeFetched(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for source, want := range map[string]string{
		secure.URL: "signed by an unknown authority",
		"https" + strings.TrimPrefix(plain.URL, "http"): "does not speak TLS",
	} {
		if _, err := ReadLists([]string{source}, breaker.DefaultSettings()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, err := range map[string]error{
		"it takes too long":                                os.ErrDeadlineExceeded,
		"the name of its server cannot be resolved":        &net.OpError{Op: "dial", Err: &net.DNSError{Name: "s3cret"}},
		"its server cannot be reached: no route to host":   &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)},
		"the connection broke: connection reset by peer":   &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"the TLS handshake with its server failed":         &net.OpError{Op: "remote error", Err: tls.AlertError(40)},
		"the certificate of its server cannot be verified": &tls.CertificateVerificationError{Err: io.EOF},
	} {
		if got := unfetched(err); got.Error() != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}
