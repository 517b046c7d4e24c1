package forward_test

import "testing"

func TestAProxyThatATargetHasHadEnoughOfIsNotSentThereAgain(t *testing.T) {
	banned := serve(t, normal, answering("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\n", "no"))
	good := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
	r := newRig(t, limits{bans: []int{403, 429}}, banned.spec(), good.spec())
	c := r.dial()
	refused := 0
	for range 100 {
		c.write(crlf(get + "\n"))
		head, _ := c.response()
		if status(head) == "429" {
			refused++
		}
	}
	if refused > 1 {
		t.Errorf("the target said %d times that it has had enough of the proxy", refused)
	}
}
