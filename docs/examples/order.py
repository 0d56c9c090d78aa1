"""Makes an order through the egress: JSON in, JSON out, no session, no cryptography. Needs only Python 3.9:
EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo python3 docs/examples/order.py
To send an order with an unknown outcome again, under its own id, put MERCHANT_REQUEST_ID=… before the same line."""

import http.client
import json
import os
import socket
import ssl
import sys
import urllib.request
import uuid

URL, TOKEN, MERCHANT = (os.environ.get(name, "").strip() for name in ("EGRESS_URL", "EGRESS_TOKEN", "MERCHANT_ID"))
if not URL.startswith(("http://", "https://")) or len(TOKEN.split()) != 1:
    sys.exit("set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break")
if not MERCHANT:
    sys.exit("set MERCHANT_ID: the terminal's id at the bank")
OPENER = urllib.request.OpenerDirector()  # one that follows no redirect: the token is for the egress alone
for handler in (urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    OPENER.add_handler(handler())
# With these codes the egress says that the bank does not have it, with answer_unopened that it does; with others, nobody knows. docs/egress.md lists them all.
NOT_SENT = {"unauthenticated", "route_not_found", "method_not_allowed", "invalid_request", "unsupported_media_type",
            "payload_too_large", "session_unavailable", "overloaded", "shutting_down", "gateway_unreachable"}
NO_REFUSAL = {"b_duplicate_field_value", "b_unknown_error"}  # the first says that the bank has a request with this id, the second says nothing
GIVEN = os.environ.get("MERCHANT_REQUEST_ID", "").strip()
ID, NONE = (GIVEN, "no order by this request, while one that was sent before may be there") if GIVEN else (str(uuid.uuid4()), "no order")
order = {"merchantRequestId": ID, "merchantId": MERCHANT, "hppPayType": "PURCHASE", "coinAmount": 12500,
         "paymentMethods": ["PAN"], "statusPageType": "STATUS_TIMER_PAGE", "customerData": {"senderCustomerId": "customer-1"},
         "successUrl": "https://shop.example/thanks", "failUrl": "https://shop.example/sorry"}
request = urllib.request.Request(URL + "/ecom/execute_request/hpp/v1/create-order", json.dumps(order).encode(),
                                 {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
FIND_OUT = f"keep {ID}, send the order again with it to find out, and never under a new merchantRequestId"
ASK = f"look for its hppOrderId in the notification, or ask the bank about {ID}"
print(f"sending {ID}", file=sys.stderr)  # a real program stores it in its database before sending
try:
    with OPENER.open(request, timeout=45) as answer:  # longer than gateway.timeout plus ten seconds
        status, text = answer.status, answer.read()
except (OSError, http.client.HTTPException) as error:
    cause = getattr(error, "reason", None)  # only a failed connection has one that is an error
    if isinstance(cause, (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)):
        sys.exit(f"{NONE}, for it was not sent: nothing answers at {URL} (EGRESS_URL) that is trusted: {error}")
    sys.exit(f"unknown whether the bank has it: no answer of the egress: {type(error).__name__} {error}; {FIND_OUT}")
try:
    said = json.loads(text)
except (ValueError, RecursionError):
    said = None
said = said if isinstance(said, dict) else {}
why = "; ".join(str(said[name]) for name in ("msgCode", "msgText", "code", "title", "detail", "cause") if said.get(name))
msg, code = said.get("msgCode"), str(said.get("code"))
is_of_egress = said.get("type") == "urn:session-broker:problem:" + code
if status == 200 and not msg and isinstance(said.get("hppOrderId"), str) and said["hppOrderId"]:
    print(f"order {said['hppOrderId']} is {said.get('orderStatus')}")
    if not isinstance(said.get("redirectUrl"), str) or not said["redirectUrl"]:
        sys.exit(f"the bank HAS the order {said['hppOrderId']}, but names no redirectUrl to send the customer to: ask the bank")
    print(f"send the customer to {said['redirectUrl']}")
elif is_of_egress and code == "answer_unopened":
    sys.exit(f"the bank HAS the order, but its answer was not opened: {status} {why}; {ASK}")
elif is_of_egress and code in NOT_SENT or isinstance(msg, str) and msg and msg not in NO_REFUSAL and status < 500:
    sys.exit(f"{NONE}: {status} {why}")
elif msg == "b_duplicate_field_value" and status < 500:
    sys.exit(f"the bank has a request with this id already, and does not say of which order: {status} {why}; {ASK}")
else:
    sys.exit(f"unknown whether the bank has it: {status} {why or 'that is neither of the bank nor of the egress'}; {FIND_OUT}")
