// Reads a session, reports it as dead and waits for the next one. Needs only Go 1.19: BROKER_URL=… BROKER_TOKEN=… go run docs/examples/session.go
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

type answer struct {
	Generation                                       int64
	ExpiresAt, Code, Title, Detail, Cause, RequestID string
}

// call returns the status of an answer and what it says. It retries after Retry-After, a minute at most; any other refusal is fatal.
func call(method, path, body string, headers http.Header) (status int, said answer) {
	url, token, merchant := strings.TrimSpace(os.Getenv("BROKER_URL")), strings.TrimSpace(os.Getenv("BROKER_TOKEN")), strings.Fields(os.Getenv("BROKER_MERCHANT") + " shop")[0]
	for try := 1; ; try, said = try+1, (answer{}) {
		request, err := http.NewRequest(method, url+"/v1/merchants/"+merchant+path, strings.NewReader(body))
		if err != nil || request.URL.Host == "" || len(strings.Fields(token)) != 1 {
			log.Fatal("set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://, and the token has no line break")
		}
		request.Header, headers["Authorization"] = headers, []string{"Bearer " + token}
		response, err := (&http.Client{Timeout: 40 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(request)
		if err != nil {
			log.Fatalf("nothing answers at BROKER_URL=%q: %s", url, strings.NewReplacer("to HTTPS client", "to HTTPS client; is it https:// or http://?", "a TLS handshake", "a TLS handshake; is it https:// or http://?", `": EOF`, `": EOF; is it https:// or http://?`, "reset by peer", "reset by peer; is it https:// or http://?", "broken pipe", "broken pipe; is it https:// or http://?", "malformed HTTP response", "is it https:// or http://?; malformed HTTP response").Replace(err.Error()))
		}
		json.NewDecoder(response.Body).Decode(&said) // a 304 has no body
		response.Body.Close()
		why := strings.Trim(strings.ReplaceAll(said.Code+"; "+said.Title+"; "+said.Detail+"; "+said.Cause, "; ; ", "; "), "; ")
		wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		switch status = response.StatusCode; {
		case status == http.StatusNotModified && headers.Get("If-None-Match") != "" || status == http.StatusOK && said.Generation > 0:
			return status, said
		case status < http.StatusBadRequest || said.Code == "":
			log.Fatalf("%s: a %d that is not the broker's: is BROKER_URL right?", path, status)
		case err != nil || try == 5 || wait > time.Minute:
			log.Fatalf("%s: %d %s (request %s)", path, status, why, said.RequestID)
		}
		log.Printf("%s: waiting %v, as the broker asks: %s", path, wait, why)
		time.Sleep(wait)
	}
}

func main() {
	log.Print("reading the session: where there is none yet, the broker answers after 30 s at the latest")
	_, session := call("GET", "/session", "", http.Header{"Prefer": {"wait=30"}})
	status, _ := call("GET", "/session", "", http.Header{"If-None-Match": {fmt.Sprintf(`"%d"`, session.Generation)}})
	fmt.Printf("generation %d until %s\nasked again: %d\n", session.Generation, session.ExpiresAt, status)
	used := session.Generation - 1 // As if a call with the previous session had been refused. Report the generation that you used.
	_, newer := call("POST", "/session/rejections", fmt.Sprintf(`{"generation": %d, "reason": "b_expired_token"}`, used), http.Header{"Content-Type": {"application/json"}})
	for status = http.StatusNotModified; status == http.StatusNotModified; status, session = call("GET", "/session", "", http.Header{"If-None-Match": {fmt.Sprintf(`"%d"`, used)}, "Prefer": {"wait=30"}}) {
	} // each waits for half a minute at most; a real program asks again if nothing answers
	fmt.Printf("rejected: newer is %t\nfollowed: %t\n", newer.Generation > used, session.Generation == newer.Generation)
}
