// Reads a session, reports it as dead and follows to the next one. Needs Go 1.19 alone:
// BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… go run docs/examples/session.go
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
	Generation                 int64
	ExpiresAt, Code, RequestID string
}

// call gives the status of an answer and what it says. It comes back after Retry-After, a minute at most; any other refusal is fatal.
func call(method, path, body string, headers http.Header) (status int, said answer) {
	for try := 1; ; try++ {
		request, _ := http.NewRequest(method, os.Getenv("BROKER_URL")+"/v1/merchants/shop"+path, strings.NewReader(body))
		request.Header = headers
		request.Header.Set("Authorization", "Bearer "+os.Getenv("BROKER_TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		response, err := (&http.Client{Timeout: 40 * time.Second}).Do(request)
		if err != nil {
			log.Fatal(err)
		}
		json.NewDecoder(response.Body).Decode(&said) // a 304 says nothing
		response.Body.Close()
		if status = response.StatusCode; status < 400 {
			return status, said
		}
		wait, err := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		if err != nil || try == 5 || wait > time.Minute {
			log.Fatalf("%s: %d %s, request %s", path, status, said.Code, said.RequestID)
		}
		time.Sleep(wait)
	}
}

func main() {
	_, session := call("GET", "/session", "", http.Header{"Prefer": {"wait=30"}})
	fmt.Println("generation", session.Generation, "until", session.ExpiresAt)
	held := fmt.Sprintf(`"%d"`, session.Generation)
	status, _ := call("GET", "/session", "", http.Header{"If-None-Match": {held}})
	fmt.Println("asked again:", status)
	report := fmt.Sprintf(`{"generation": %d, "reason": "b_expired_token"}`, session.Generation)
	_, newer := call("POST", "/session/rejections", report, http.Header{})
	fmt.Println("rejected: newer is", newer.Generation > session.Generation)
	// Each request waits at the broker for half a minute: the next session is here as soon as there is one.
	next := session
	for status != http.StatusOK {
		status, next = call("GET", "/session", "", http.Header{"If-None-Match": {held}, "Prefer": {"wait=30"}})
	}
	fmt.Println("followed:", next.Generation == newer.Generation)
}
