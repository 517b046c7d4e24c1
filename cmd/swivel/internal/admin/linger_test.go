package admin

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLongBodyGotAResetInsteadOfAnAnswer(t *testing.T) {
	const size = 5 << 20
	r := newRigWith(t, token, "127.0.0.1:1 name=a tag=x")
	const path, shown, isJSON = "/api/v1/tags/x/pause", "Authorization: Bearer " + string(token) + "\r\n", "Content-Type: application/json\r\n"
	length := "Content-Length: " + strconv.Itoa(size) + "\r\n"
	for name, test := range map[string]struct {
		head   string
		status int
	}{
		"declared":   {path + " HTTP/1.1\r\n" + shown + isJSON + length, 413},
		"chunked":    {path + " HTTP/1.1\r\n" + shown + isJSON + "Transfer-Encoding: chunked\r\n", 413},
		"no JSON":    {path + " HTTP/1.1\r\n" + shown + length, 415},
		"no token":   {path + " HTTP/1.1\r\n" + isJSON + length, 401},
		"no path":    {"/api/v1/nothing HTTP/1.1\r\n" + shown + isJSON + length, 404},
		"asks first": {path + " HTTP/1.1\r\n" + shown + isJSON + length + "Expect: 100-continue\r\n", 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			body := strings.Repeat(" ", size)
			if name == "chunked" {
				body = strconv.FormatInt(size, 16) + "\r\n" + body + "\r\n0\r\n\r\n"
			}
			if name == "asks first" {
				body = ""
			}
			// all of it before anything is read
			if _, err := io.WriteString(conn, "POST "+test.head+"Host: 127.0.0.1\r\n\r\n"+body); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.status || !strings.HasPrefix(string(text), `{"error":"`) {
				t.Errorf("%d %s: %v", response.StatusCode, text, err)
			}
		})
	}
}
