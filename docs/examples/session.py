"""Reads a session, holds on to it, reports it as dead, and seals and opens a payload. Needs nothing but Python 3.9.

BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… python3 docs/examples/session.py
"""

import json
import os
import urllib.error
import urllib.request

SHOP = os.environ["BROKER_URL"] + "/v1/merchants/shop"


def call(path, body=None, headers=None):
    """Status and document of an answer; raises RuntimeError with the problem's code for a refusal."""
    request = urllib.request.Request(SHOP + path, method="GET" if body is None else "POST")
    request.add_header("Authorization", "Bearer " + os.environ["BROKER_TOKEN"])
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None
    if body is not None:
        request.add_header("Content-Type", "application/json")
        data = json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, data=data, timeout=40) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return 304, None
        problem = json.load(error)
        raise RuntimeError(f"{path}: {error.code} {problem['code']} (request {problem['requestId']})") from None


_, session = call("/session", headers={"Prefer": "wait=30"})
generation = session["generation"]
print(f"generation {generation} until {session['expiresAt']}")

status, _ = call("/session", headers={"If-None-Match": f'"{generation}"'})
print(f"asked again: {status}")

_, newer = call("/session/rejections", {"generation": generation, "reason": "b_expired_token"})
print(f"rejected: newer is {'yes' if newer['generation'] > generation else 'no'}")

_, key = call("/client-key")
_, sealed = call("/payloads/encrypt", {"plaintext": "a payment", "recipient": key["jwk"]})
_, opened = call("/payloads/decrypt", {"jwe": sealed["jwe"]})
print(f"opened: {opened['plaintext']}")
