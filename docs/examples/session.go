// Reads a session, reports it as dead and follows to the next one. Needs Go 1.19 alone: BROKER_URL=… BROKER_TOKEN=… go run docs/examples/session.go
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
	Generation                                int64
	ExpiresAt, Code, Title, Detail, RequestID string
}

// call gives the status of an answer and what it says. It comes back after Retry-After, a minute at most; any other refusal is fatal.
func call(method, path, body string, headers http.Header) (status int, said answer) {
	for try := 1; ; try, said = try+1, (answer{}) {
		request, err := http.NewRequest(method, os.Getenv("BROKER_URL")+"/v1/merchants/shop"+path, strings.NewReader(body))
		if err != nil || request.URL.Host == "" || os.Getenv("BROKER_TOKEN") == "" {
			log.Fatal("set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://")
		}
		request.Header = headers
		request.Header.Set("Authorization", "Bearer "+os.Getenv("BROKER_TOKEN"))
		response, err := (&http.Client{Timeout: 40 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(request)
		if err != nil {
			log.Fatalf("nothing answers at BROKER_URL=%q: %v", os.Getenv("BROKER_URL"), err)
		}
		json.NewDecoder(response.Body).Decode(&said) // a 304 says nothing
		response.Body.Close()
		wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		switch status = response.StatusCode; {
		case status == http.StatusNotModified || status == http.StatusOK && said.Generation > 0:
			return status, said
		case status < http.StatusBadRequest || said.Code == "":
			log.Fatalf("%s: a %d that is not the broker's: is BROKER_URL right?", path, status)
		case err != nil || try == 5 || wait > time.Minute:
			log.Fatalf("%s: %d %s: %s, request %s", path, status, said.Code, strings.TrimSuffix(said.Title+": "+said.Detail, ": "), said.RequestID)
		}
		log.Printf("%s: waiting %v, as the broker asks: %s", path, wait, said.Code)
		time.Sleep(wait)
	}
}

func main() {
	_, session := call("GET", "/session", "", http.Header{"Prefer": {"wait=30"}})
	status, _ := call("GET", "/session", "", http.Header{"If-None-Match": {fmt.Sprintf(`"%d"`, session.Generation)}})
	fmt.Printf("generation %d until %s\nasked again: %d\n", session.Generation, session.ExpiresAt, status)
	session.Generation-- // As if a call with the session before this one had been refused. Report the generation that you used.
	_, newer := call("POST", "/session/rejections", fmt.Sprintf(`{"generation": %d, "reason": "b_expired_token"}`, session.Generation), http.Header{"Content-Type": {"application/json"}})
	fmt.Println("rejected: newer is", newer.Generation > session.Generation)
	held := http.Header{"If-None-Match": {fmt.Sprintf(`"%d"`, session.Generation)}, "Prefer": {"wait=30"}}
	for status = http.StatusNotModified; status == http.StatusNotModified; status, session = call("GET", "/session", "", held) { // each waits for half a minute at most
	}
	fmt.Println("followed:", session.Generation == newer.Generation)
}
