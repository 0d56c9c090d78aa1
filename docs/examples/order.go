// Makes an order through the egress: JSON in, JSON out, no session, no cryptography. Needs Go 1.19 alone:
//
//	EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo go run docs/examples/order.go
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

func main() {
	url, token := strings.TrimSpace(os.Getenv("EGRESS_URL")), strings.TrimSpace(os.Getenv("EGRESS_TOKEN"))
	// Keep the merchantRequestId before you send: what is not known to have failed is asked for, never sent under a new one.
	id := fmt.Sprintf("order-%d", time.Now().UnixNano())
	order, _ := json.Marshal(map[string]any{
		"merchantRequestId": id, "merchantId": os.Getenv("MERCHANT_ID"), "hppPayType": "PURCHASE", "coinAmount": 12500,
		"paymentMethods": []string{"PAN"}, "statusPageType": "STATUS_TIMER_PAGE", "customerData": map[string]string{"senderCustomerId": "customer-1"},
		"successUrl": "https://shop.example/thanks", "failUrl": "https://shop.example/sorry",
	})
	request, err := http.NewRequest("POST", url+"/ecom/execute_request/hpp/v1/create-order", strings.NewReader(string(order)))
	if err != nil || request.URL.Host == "" || len(strings.Fields(token)) != 1 {
		log.Fatal("set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break")
	}
	request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	response, err := (&http.Client{Timeout: 45 * time.Second}).Do(request) // longer than gateway.timeout and ten seconds
	if err != nil {
		log.Fatalf("no answer of the egress: %v; ask for the state of order %s", err, id)
	}
	defer response.Body.Close()
	var said struct{ HppOrderID, OrderStatus, MsgCode, MsgText, Code, Title string }
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		log.Fatalf("no answer of the egress: %v; ask for the state of order %s", err, id)
	}
	if said.HppOrderID == "" { // what each code means for a repetition: docs/egress.md
		log.Fatalf("no order: %s%s: %s%s", said.MsgCode, said.Code, said.MsgText, said.Title)
	}
	fmt.Printf("order %s is %s\n", said.HppOrderID, said.OrderStatus)
}
