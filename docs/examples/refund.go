// Refunds 1.00 of a purchase through the egress: JSON in, JSON out, no session, no cryptography. Needs only Go 1.19; to send a refund again, set MERCHANT_REQUEST_ID=…:
// EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo OPERATION_ID=… go run docs/examples/refund.go
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// With these codes the egress says that the bank does not have it, with answer_unopened that it does; with others, nobody knows. docs/egress.md lists them all.
const notSent = " unauthenticated route_not_found method_not_allowed invalid_request unsupported_media_type payload_too_large session_unavailable overloaded shutting_down gateway_unreachable "

func main() {
	read := func(name string) string { return strings.TrimSpace(os.Getenv(name)) }
	url, token, id, none := read("EGRESS_URL"), read("EGRESS_TOKEN"), read("MERCHANT_REQUEST_ID"), "no refund by this request, while one that was sent before may be there"
	if id == "" {
		id, none = fmt.Sprintf("refund-%d", time.Now().UnixNano()), "no refund"
	}
	refund, _ := json.Marshal(map[string]any{
		"merchantRequestId": id, "merchantId": read("MERCHANT_ID"), "operationId": read("OPERATION_ID"), "coinAmount": 100,
		"date": time.Now().UTC().Format("2006-01-02 15:04:05.000-07:00"), "notificationUrl": read("NOTIFICATION_URL"), "notificationEncryption": true})
	request, err := http.NewRequest("POST", url+"/ecom/execute_request/payments/v3/refund", strings.NewReader(string(refund)))
	if err != nil || request.URL.Host == "" || len(strings.Fields(token)) != 1 {
		log.Fatal("set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break")
	}
	if read("MERCHANT_ID") == "" {
		log.Fatal("set MERCHANT_ID: the terminal's id at the bank")
	}
	if read("OPERATION_ID") == "" {
		log.Fatal("set OPERATION_ID: the operationId of the purchase of which something is given back")
	}
	request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	log.Printf("sending the refund %s", id) // a real program stores it in its database before sending
	client := http.Client{Timeout: 45 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request) // waits longer than gateway.timeout plus ten seconds, and follows no redirect: the token is for the egress alone
	unknown, findOut := "unknown whether the bank has it: %v %v; %s", "keep "+id+": the notification or the bank tells its status, never send it under a new merchantRequestId"
	if err != nil && regexp.MustCompile("dial tcp|HTTP response to HTTPS client|first record does not|TLS handshake timeout|x509: ").MatchString(err.Error()) {
		log.Fatalf("%s, for it was not sent: nothing answers at %s (EGRESS_URL) that is trusted: %s", none, url, err)
	} else if err != nil {
		log.Fatalf(unknown, "no answer of the egress:", err, findOut)
	}
	var said struct {
		EcomOperationID, MsgCode, MsgText, Type, Code, Title, Detail, Cause string
		Status                                                              any // in the egress's own answers, the status is a number
	}
	err = json.NewDecoder(response.Body).Decode(&said)
	isOfEgress := said.Type == "urn:session-broker:problem:"+said.Code
	isEnd, told := func(r rune) bool { return r == '\n' }, []string{response.Status, said.MsgCode, said.MsgText, said.Code, said.Title, said.Detail, said.Cause}
	why := strings.Join(strings.FieldsFunc(strings.Join(told, "\n"), isEnd), "; ") // without empty parts
	status, _ := said.Status.(string)
	switch {
	case err != nil:
		log.Fatalf(unknown, response.Status, "that is neither of the bank nor of the egress: "+err.Error(), findOut)
	case isOfEgress && said.Code == "answer_unopened":
		log.Fatalf("the bank HAS the refund, but its answer was not opened: %s; %s", why, findOut)
	case said.MsgCode == "b_duplicate_field_value" && response.StatusCode < 500:
		log.Fatalf("the bank has a request with this id already: %s; %s", why, findOut)
	case isOfEgress && strings.Contains(notSent, " "+said.Code+" ") || said.MsgCode != "" && said.MsgCode != "b_unknown_error" && response.StatusCode < 500:
		log.Fatalf("%s: %s", none, why)
	case response.StatusCode != 200 || said.MsgCode != "" || said.EcomOperationID == "" || status == "":
		log.Fatalf(unknown, why, "(that is no sure answer)", findOut)
	}
	fmt.Printf("refund %s is %s\n", said.EcomOperationID, status)
}
