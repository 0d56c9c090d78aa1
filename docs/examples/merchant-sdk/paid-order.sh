#!/bin/sh
# Orders through the demo's egress, pays in its sandbox, and prints the operationId that a refund names. Needs curl and sed.
#   EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… GATEWAY_URL=http://127.0.0.1:8081 sh paid-order.sh
set -eu
: "${EGRESS_URL:?}" "${EGRESS_TOKEN:?}" "${GATEWAY_URL:?}"

# The gateway takes a merchantRequestId once.
json='{"merchantRequestId":"order-'$(date +%s)-$$'","merchantId":"demo","hppPayType":"PURCHASE","coinAmount":12500,
  "paymentMethods":["PAN"],"successUrl":"https://shop.example/thanks","failUrl":"https://shop.example/sorry",
  "statusPageType":"STATUS_TIMER_PAGE","customerData":{"senderCustomerId":"customer-1"}}'
post() { curl -sS --fail-with-body -H 'content-type: application/json' -H 'accept: application/json' -d "$1" "$2" -H "$3"; }
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

authorization="authorization: Bearer $EGRESS_TOKEN"
order=$(post "$json" "$EGRESS_URL/ecom/execute_request/hpp/v1/create-order" "$authorization" | member hppOrderId)
post '{}' "$GATEWAY_URL/control/orders/${order:?there is no order}/pay" 'x-played-by: the customer' | member operationId
