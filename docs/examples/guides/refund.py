import contextlib
import datetime
import http.client
import json
import os
import re
import ssl
import sys
import urllib.parse
import uuid

DEAD = {"b_expired_token", "b_used_token", "b_previous_auth_token_expired", "b_unknown_device",
        "b_session_doesnt_exist", "b_session_doesnt_exists"}
NO_GATEWAY = "GATEWAY_URL leads to an egress or a broker, and to no gateway"
REQUEST_ID = os.environ.get("MERCHANT_REQUEST_ID", "").strip() or str(uuid.uuid4())
FIND_OUT = f"keep {REQUEST_ID}: the notification or the bank tells its status, never send it under a new merchantRequestId"
AGAIN = "it may be sent again with the same MERCHANT_REQUEST_ID"
NOTHING_SENT = f"this program has sent nothing to the bank, and {AGAIN}"
UNKNOWN = f"nobody knows whether the bank has the refund: {FIND_OUT}"
REFUSED = "the bank does not have it by this request, while one that was sent before with the same id may be there"
DUPLICATE = f"the bank has a request with this id already; {FIND_OUT}"
NAMES = ("BROKER_URL", "BROKER_TOKEN", "GATEWAY_URL", "MERCHANT_ID", "OPERATION_ID")
BROKER_URL, BROKER_TOKEN, GATEWAY_URL, MERCHANT_ID, OPERATION_ID = (os.environ.get(name, "").strip() for name in NAMES)
BROKER_URL, GATEWAY_URL = BROKER_URL.rstrip("/"), GATEWAY_URL.rstrip("/")
for name, url in (("BROKER_URL", BROKER_URL), ("GATEWAY_URL", GATEWAY_URL)):
    if not re.fullmatch(r"https?://[^\s/]\S*", url):
        sys.exit(f"set {name}: it begins with http:// or https://")
if len(BROKER_TOKEN.split()) != 1:  # the library would print it as it refuses such a header
    sys.exit("set BROKER_TOKEN: the token by which the broker knows the caller, with no space and no line break in it")
if not MERCHANT_ID:
    sys.exit("set MERCHANT_ID: the terminal's id at the bank")
if not OPERATION_ID:
    sys.exit("set OPERATION_ID: the operationId of the purchase of which something is given back")


ANSWERED = set()  # addresses that speak what they are asked in


class Failed(Exception):
    """What went wrong, and what that means for the refund."""


class NotSent(Exception):
    """No connection came about, so that nothing was sent."""


def connected(at):
    connection = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
    try:
        opened = connection(at.hostname, at.port, timeout=45)
        opened.connect()  # with the handshake of TLS, where there is one
        return opened
    except (OSError, ValueError) as error:
        is_no_tls = isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLCertVerificationError)
        hint = "; does it begin with http://?" if is_no_tls else ""
        raise NotSent(f"{type(error).__name__} {error}{hint}") from None


def send(url, data, headers):
    """Status and document of an answer; an empty one for a redirect, which is not followed, or a page that is no JSON."""
    at = urllib.parse.urlsplit(url)
    with contextlib.closing(connected(at)) as connection:
        connection.request("GET" if data is None else "POST", at.path, data, headers)
        response = connection.getresponse()
        status, text = response.status, response.read()
    ANSWERED.add(at.netloc)
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    return status, said if isinstance(said, dict) and not 300 <= status < 400 else {}


def https_hint(url, error, who="it"):
    """As a server that speaks nothing but TLS ends a connection without; not one that has answered before."""
    is_cut_off = isinstance(error, (ConnectionResetError, BrokenPipeError)) and url.startswith("http:")
    return f"; does {who} begin with https://?" if is_cut_off and urllib.parse.urlsplit(url).netloc not in ANSWERED else ""


def broker(path, wanted, body=None, follows=NOTHING_SENT):
    headers = {"Authorization": "Bearer " + BROKER_TOKEN, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        status, answer = send(BROKER_URL + "/v1/merchants/shop" + path, data, headers)
    except NotSent as error:
        raise Failed(f"{path}: no broker answers at {BROKER_URL} (BROKER_URL): {error}", follows) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        hint = https_hint(BROKER_URL, error)
        raise Failed(f"{path}: no broker answers at {BROKER_URL} (BROKER_URL): {type(error).__name__} {error}{hint}", follows) from None
    if status == 200 and answer.get(wanted):
        return answer
    if "code" not in answer:
        raise Failed(f"{path}: a {status} that is not the broker's: is BROKER_URL right?", follows)
    why = "; ".join(str(answer[name]) for name in ("code", "title", "detail", "cause") if answer.get(name))
    raise Failed(f"the broker refuses {path}: {status} {why} (request {answer.get('requestId')})", follows)


def sealed_to(session, members, follows):
    """Sealed to this very session: a renewal in between has another key, and the recipient is named for that reason."""
    body = {"plaintext": json.dumps(members), "recipient": session["serverPublic"]}
    return broker("/payloads/encrypt", "jwe", body, follows)["jwe"]


def opened(jwe):
    try:
        refund = json.loads(broker("/payloads/decrypt", "plaintext", {"jwe": jwe})["plaintext"])
        if not isinstance(refund, dict):
            raise ValueError("what was opened is no JSON object")
        return refund
    except (Failed, ValueError) as error:
        raise Failed(f"the bank HAS the refund, but its answer was not opened: {error.args[0]}", FIND_OUT) from None


def sent(url, data, headers):
    try:
        return send(url, data, headers)
    except NotSent as error:
        raise Failed(f"it was not sent: nothing answers at GATEWAY_URL that is trusted: {error}", AGAIN) from None
    except Exception as error:
        hint = https_hint(GATEWAY_URL, error, "GATEWAY_URL")
        raise Failed(f"the answer is lost ({type(error).__name__} {error}){hint}", UNKNOWN) from None


def words_of(answer):
    """What a refusal is about, which its code alone does not tell: the bank's own words, a piece of them, as JSON."""
    pieces = (json.dumps(answer.get(name) or "", ensure_ascii=False)[:300] for name in ("msgText", "errorCauses"))
    return "".join(" " + piece for piece in pieces if len(piece) > 2)


def is_no_gateway(status, answer):
    """An egress or a broker refused it: a wrong GATEWAY_URL, which says nothing of the session."""
    is_ours = answer.get("serviceId") == "session-egress" or str(answer.get("type")).startswith("urn:session-broker:problem:")
    return is_ours and status in (401, 404, 405, 415)


def direct_payment(path, members):
    session, follows = broker("/session", "generation"), NOTHING_SENT
    for is_last in (False, True):
        headers = {"Content-Type": "text/plain", "x-api_version": "V1", "x-device_id": session["deviceId"],
                   "x-refresh_token": session.get("refreshToken", "")}
        url = GATEWAY_URL + "/ecom/execute_request/payments/" + path
        status, answer = sent(url, sealed_to(session, members, follows).encode(), headers)
        jwe, code = (it if isinstance(it, str) and it else None for it in (answer.get("jwe"), answer.get("msgCode")))
        if jwe is not None:
            return opened(jwe)
        if is_no_gateway(status, answer):
            raise Failed(NO_GATEWAY, f"nothing was sent to the bank, and nothing was reported; {AGAIN}")
        is_dead = code in DEAD or (status == 401 and code != "b_auth_token_expired")
        is_refusal = code is not None and code != "b_unknown_error" and status < 500
        if not is_refusal and not is_dead:
            what = f"{status} is no answer of the gateway" if code is None else f"{status} {code} is no refusal{words_of(answer)}"
            raise Failed(f"{path}: {what}{': is GATEWAY_URL right?' if status == 404 else ''}", UNKNOWN)
        refusal = f"the gateway says to {path}: {status} {code or 'without a code of the bank'}{words_of(answer) if code else ''}"
        if not is_dead:
            if status == 404:
                refusal += ": is GATEWAY_URL right?"
            raise Failed(refusal, DUPLICATE if code == "b_duplicate_field_value" else REFUSED)
        follows = f"the bank does not have it by this request, and {AGAIN}"
        if code not in DEAD:
            follows += "; so says the gateway's interface of a 401, which something in between, such as a proxy, may have sent"
        if is_last:
            raise Failed(f"{refusal}, with two sessions: is GATEWAY_URL right?", follows)
        report = {"generation": session["generation"], "reason": code or "http_401"}
        follows = f"{refusal}; {follows}"
        session = broker("/session/rejections", "generation", report, follows)


def main():
    print("sending the refund", REQUEST_ID, file=sys.stderr)
    refund = direct_payment("v3/refund", {
        "merchantRequestId": REQUEST_ID,
        "merchantId": MERCHANT_ID,
        "operationId": OPERATION_ID,
        "coinAmount": 100,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(" ", "milliseconds"),
        **({"notificationUrl": os.environ["NOTIFICATION_URL"]} if os.environ.get("NOTIFICATION_URL") else {}),
        "notificationEncryption": True,
    })
    print(f"refund {refund.get('ecomOperationId')} is {refund.get('status')}")


try:
    main()
except Failed as failed:
    sys.exit("; ".join(failed.args))
