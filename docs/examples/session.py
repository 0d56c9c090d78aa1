"""Reads a session, reports it as dead, follows to the next one, and seals and opens a payload. Needs only Python 3.9.

BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… python3 docs/examples/session.py"""

import json
import os
import sys
import time
import urllib.request

URL, TOKEN = os.environ.get("BROKER_URL", ""), os.environ.get("BROKER_TOKEN")
if not URL.startswith(("http://", "https://")) or not TOKEN:
    sys.exit("set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://")
OPENER = urllib.request.OpenerDirector()  # one that follows no redirect: the token is for the broker alone
for handler in (urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    OPENER.add_handler(handler())


def call(path, body=None, headers=None, tries=5):
    """Status and document of an answer. Comes back after Retry-After, a minute at most; raises RuntimeError for any other refusal."""
    own = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(URL + "/v1/merchants/shop" + path, body and json.dumps(body).encode(), own)
    try:
        answer = OPENER.open(request, timeout=40)
    except OSError as error:
        raise RuntimeError(f"nothing answers at {URL} (BROKER_URL): {error}") from None
    try:
        said = answer.status != 304 and json.load(answer)
        if answer.status == 304 or answer.status == 200 and {"generation", "jwk", "jwe", "plaintext"}.intersection(said):
            return answer.status, said
        why = f"{said['code']}: {said.get('detail', said.get('title'))}, request {said['requestId']}"
    except (ValueError, KeyError, TypeError):
        raise RuntimeError(f"{path}: a {answer.status} that is not the broker's: is BROKER_URL right?") from None
    wait = int(answer.headers.get("Retry-After", "1"))
    if answer.status not in (429, 503) or tries == 1 or wait > 60:
        raise RuntimeError(f"{path}: {answer.status} {why}")
    print(f"waiting {wait} s, as the broker asks: {said['code']}", file=sys.stderr)
    time.sleep(wait)
    return call(path, body, headers, tries - 1)


def follow(generation):
    """The next session as soon as there is one: each request waits at the broker for half a minute."""
    status = 304
    while status == 304:
        status, session = call("/session", headers={"If-None-Match": f'"{generation}"', "Prefer": "wait=30"})
    return session


_, session = call("/session", headers={"Prefer": "wait=30"})
generation = session["generation"]
print(f"generation {generation} until {session['expiresAt']}")
print("asked again:", call("/session", headers={"If-None-Match": f'"{generation}"'})[0])
generation -= 1  # As if a call with the session before this one had been refused. Report the generation that you used.
_, newer = call("/session/rejections", {"generation": generation, "reason": "b_expired_token"})
print(f"rejected: newer is {'yes' if newer['generation'] > generation else 'no'}")
print(f"followed: {'the same' if follow(generation)['generation'] == newer['generation'] else 'another'}")
_, sealed = call("/payloads/encrypt", {"plaintext": "a payment", "recipient": call("/client-key")[1]["jwk"]})
print(f"opened: {call('/payloads/decrypt', {'jwe': sealed['jwe']})[1]['plaintext']}")
