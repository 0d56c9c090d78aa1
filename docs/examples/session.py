"""Reads a session, reports it as dead, follows to the next one, and seals and opens a payload. Needs only Python 3.9.

BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… python3 docs/examples/session.py
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL, TOKEN = (os.environ.get(name) or sys.exit(f"set {name}") for name in ("BROKER_URL", "BROKER_TOKEN"))


def call(path, body=None, headers=None, tries=5):
    """Status and document of an answer. Comes back after Retry-After, a minute at most; raises RuntimeError for any other refusal."""
    own = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(URL + "/v1/merchants/shop" + path, body and json.dumps(body).encode(), own)
    try:
        with urllib.request.urlopen(request, timeout=40) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return 304, None
        try:
            problem = json.load(error)
            why = f"{problem['code']}: {problem.get('detail', problem.get('title'))}, request {problem['requestId']}"
        except (ValueError, KeyError, TypeError):
            raise RuntimeError(f"{path}: a {error.code} that is not the broker's: is BROKER_URL right?") from None
        wait = int(error.headers.get("Retry-After", "1"))
        if error.code not in (429, 503) or tries == 1 or wait > 60:
            raise RuntimeError(f"{path}: {error.code} {why}") from None
        print(f"waiting {wait} s, as the broker asks: {problem['code']}", file=sys.stderr)
        time.sleep(wait)
        return call(path, body, headers, tries - 1)
    except urllib.error.URLError as error:
        raise RuntimeError(f"nothing answers at {URL} (BROKER_URL): {error.reason}") from None


def follow(generation):
    """The next session as soon as there is one: each request waits at the broker for half a minute."""
    while True:
        status, session = call("/session", headers={"If-None-Match": f'"{generation}"', "Prefer": "wait=30"})
        if status == 200:
            return session


_, session = call("/session", headers={"Prefer": "wait=30"})
generation = session["generation"]
print(f"generation {generation} until {session['expiresAt']}")
status, _ = call("/session", headers={"If-None-Match": f'"{generation}"'})
print(f"asked again: {status}")
generation -= 1  # As if a call with the session before this one had been refused. Report the generation that you used.
_, newer = call("/session/rejections", {"generation": generation, "reason": "b_expired_token"})
print(f"rejected: newer is {'yes' if newer['generation'] > generation else 'no'}")
print(f"followed: {'the same' if follow(generation)['generation'] == newer['generation'] else 'another'}")
_, sealed = call("/payloads/encrypt", {"plaintext": "a payment", "recipient": call("/client-key")[1]["jwk"]})
print(f"opened: {call('/payloads/decrypt', {'jwe': sealed['jwe']})[1]['plaintext']}")
