package forward_test

import (
	"crypto/tls"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/certificate/certtest"
)

// clientTLS is how the rigs to come speak with clients; nil: without TLS.
var clientTLS *tls.Config

// TestOverTLS holds TLS to what plain connections promise.
func TestOverTLS(t *testing.T) {
	pair, err := tls.X509KeyPair(certtest.Pair(t, "swivel.test", time.Time{}, time.Now().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	clientTLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	defer func() { clientTLS = nil }()
	for name, test := range map[string]func(*testing.T){
		"a client that leaves before the response": TestClientThatLeavesBeforeTheResponseEndsTheExchange,
		"a client that leaves within one":          TestClientThatLeavesWithinAResponseEndsTheExchange,
		"a client that leaves within a stream":     TestClientThatLeavesWithinAStreamIsNoticedByWriting,
		"a client that leaves within its body":     TestClientThatLeavesWithinItsBodyIsNotTheProxysFault,
		"a client that pipelines":                  TestClientThatPipelinesHasNotLeft,
		"one connection, many proxies":             TestRequestsOfOneConnectionRotateOverTheProxies,
		"order":                                    TestPipelinedRequestsAreAnsweredInOrder,
		"many clients":                             TestConcurrentClientsGetTheirOwnAnswers,
		"CONNECT behind plain requests":            TestCONNECTMayFollowAPlainRequest,
		"messages byte for byte":                   TestMessagesPassByteForByte,
		"expectations":                             TestExpectationReachesTheTargetAndItsAnswerTheClient,
		"streams":                                  TestPiecesOfAStreamArePassedOnAtOnce,
		"a response cut short":                     TestCutResponseIsSeenByTheClient,
		"a reset within a body":                    TestResetInsideABodyWithoutLengthIsSeenByTheClient,
		"refused uploads":                          TestEarlyRefusalOfAnUploadReachesTheClient,
		"answers that overtake":                    TestAnswerMayOvertakeTheRequest,
		"a client that stops sending":              TestClientThatStopsSendingIsToldSo,
		"websockets":                               TestWebsocketIsRelayed,
		"the end of a websocket server":            TestEndOfAWebsocketServerEndsItsClient,
		"the end of a websocket client":            TestEndOfAWebsocketClientEndsItsServer,
	} {
		t.Run(name, test)
	}
}
