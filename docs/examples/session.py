"""Reads a session, reports it as dead, waits for the next one, and seals and opens a payload. Needs only Python 3.9:
BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… python3 docs/examples/session.py, and BROKER_MERCHANT=… for a merchant not named shop"""

import http.client
import json
import os
import sys
import time
import urllib.request

URL, TOKEN = (os.environ.get(name, "").strip() for name in ("BROKER_URL", "BROKER_TOKEN"))
if not URL.startswith(("http://", "https://")) or len(TOKEN.split()) != 1:
    sys.exit("set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://, and the token has no line break")
OPENER = urllib.request.OpenerDirector()  # one that follows no redirect: the token is for the broker alone
for handler in (urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    OPENER.add_handler(handler())


def call(path, body=None, headers={}, tries=5):
    """The status and document of an answer. Retries after Retry-After, a minute at most; ends the program on any other refusal."""
    own = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{URL}/v1/merchants/{os.environ.get('BROKER_MERCHANT') or 'shop'}{path}", body and json.dumps(body).encode(), own)
    try:
        with OPENER.open(request, timeout=40) as answer:
            text = answer.read()
    except (OSError, http.client.HTTPException) as error:
        sys.exit(f"{path}: nothing answers at {URL} (BROKER_URL) as a broker does: {type(error).__name__} {error}")
    try:
        said = json.loads(text or "null")
        if answer.status == 304 and "If-None-Match" in headers or answer.status == 200 and {"generation", "jwk", "jwe", "plaintext"}.intersection(said):
            return answer.status, said
        why = "; ".join(filter(None, (said["code"], said.get("title"), said.get("detail"), said.get("cause")))) + f" (request {said['requestId']})"
    except (ValueError, KeyError, TypeError):
        sys.exit(f"{path}: a {answer.status} that is not the broker's: is BROKER_URL right?")
    wait = answer.headers.get("Retry-After", "1")
    if answer.status not in (429, 503) or tries == 1 or not wait.isdigit() or int(wait) > 60:
        sys.exit(f"{path}: {answer.status} {why}")
    print(f"waiting {wait} s, as the broker asks: {why}", file=sys.stderr)
    time.sleep(int(wait))
    return call(path, body, headers, tries - 1)


def follow(generation):
    """The next session, from requests that the broker holds for up to half a minute. A real program asks again if nothing answers."""
    while (found := call("/session", headers={"If-None-Match": f'"{generation}"', "Prefer": "wait=30"}))[0] == 304:
        pass
    return found[1]


print("reading the session: where there is none yet, the broker answers after 30 s at the latest", file=sys.stderr)
generation = (session := call("/session", headers={"Prefer": "wait=30"})[1])["generation"]
print(f"generation {generation} until {session['expiresAt']}")
print("asked again:", call("/session", headers={"If-None-Match": f'"{generation}"'})[0])
generation -= 1  # As if a call with the previous session had been refused. Report the generation that you used.
_, newer = call("/session/rejections", {"generation": generation, "reason": "b_expired_token"})
print(f"rejected: newer is {'yes' if newer['generation'] > generation else 'no'}")
print(f"followed: {'the same' if follow(generation)['generation'] == newer['generation'] else 'another'}")
_, sealed = call("/payloads/encrypt", {"plaintext": "a payment", "recipient": call("/client-key")[1]["jwk"]})
print(f"opened: {call('/payloads/decrypt', {'jwe': sealed['jwe']})[1]['plaintext']}")
