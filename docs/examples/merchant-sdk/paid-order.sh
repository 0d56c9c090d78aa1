#!/bin/sh
# Orders through the demo's egress, pays in its sandbox, and prints the operationId that a refund names. Needs curl and sed.
#   EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… GATEWAY_URL=http://127.0.0.1:8081 sh paid-order.sh
set -eu
: "${EGRESS_URL:?set the URL of the egress}" "${EGRESS_TOKEN:?set a token of the egress}" "${GATEWAY_URL:?set the URL of the sandbox}"

# The gateway takes each merchantRequestId only once.
json='{"merchantRequestId":"order-'$(date +%s)-$$'","merchantId":"demo","hppPayType":"PURCHASE","coinAmount":12500,
  "paymentMethods":["PAN"],"successUrl":"https://shop.example/thanks","failUrl":"https://shop.example/sorry",
  "statusPageType":"STATUS_TIMER_PAGE","customerData":{"senderCustomerId":"customer-1"}}'
post() { # post WHO JSON URL HEADER: prints the answer, or exits without one
  answer=$(curl -sS --fail-with-body -H 'content-type: application/json' -H 'accept: application/json' -d "$2" "$3" -H "$4") ||
    { echo "no order is paid: $1 says ${answer:-nothing}" >&2; exit 1; }
  echo "$answer"
}
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

authorization="authorization: Bearer $EGRESS_TOKEN"
made=$(post 'the egress (EGRESS_URL)' "$json" "$EGRESS_URL/ecom/execute_request/hpp/v1/create-order" "$authorization")
order=$(echo "$made" | member hppOrderId)
: "${order:?there is no order: $made}"
paid=$(post 'the sandbox (GATEWAY_URL)' '{}' "$GATEWAY_URL/control/orders/$order/pay" 'x-played-by: the customer')
echo "$paid" | member operationId
