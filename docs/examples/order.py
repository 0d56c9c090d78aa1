"""Makes an order through the egress: JSON in, JSON out, no session, no cryptography. Needs only Python 3.9:
EGRESS_URL=http://127.0.0.1:8090 EGRESS_TOKEN=… MERCHANT_ID=demo python3 docs/examples/order.py"""

import http.client
import json
import os
import sys
import urllib.error
import urllib.request
import uuid

URL, TOKEN, MERCHANT = (os.environ.get(name, "").strip() for name in ("EGRESS_URL", "EGRESS_TOKEN", "MERCHANT_ID"))
if not URL.startswith(("http://", "https://")) or len(TOKEN.split()) != 1:
    sys.exit("set EGRESS_URL and EGRESS_TOKEN: the URL begins with http:// or https://, and the token has no line break")
order = {"merchantRequestId": str(uuid.uuid4()), "merchantId": MERCHANT, "hppPayType": "PURCHASE", "coinAmount": 12500,
         "paymentMethods": ["PAN"], "statusPageType": "STATUS_TIMER_PAGE", "customerData": {"senderCustomerId": "customer-1"},
         "successUrl": "https://shop.example/thanks", "failUrl": "https://shop.example/sorry"}
# Keep the merchantRequestId before you send: what is not known to have failed is asked for, never sent under a new one.
request = urllib.request.Request(URL + "/ecom/execute_request/hpp/v1/create-order", json.dumps(order).encode(),
                                 {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=45) as answer:  # longer than gateway.timeout and ten seconds
        said = json.load(answer)
except urllib.error.HTTPError as error:
    said = json.load(error)  # what each code means for a repetition: docs/egress.md
except (OSError, http.client.HTTPException) as error:
    sys.exit(f"no answer of the egress at {URL}: {error}; ask for the state of order {order['merchantRequestId']}")
if "hppOrderId" not in said:
    sys.exit(f"no order: {said.get('msgCode') or said.get('code')}: {said.get('msgText') or said.get('title')}")
print(f"order {said['hppOrderId']} is {said['orderStatus']}")
