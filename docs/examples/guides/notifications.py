import http.server
import json
import os
import sys
import urllib.error
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):  # the token is for the broker alone
        return None


OPENER = urllib.request.build_opener(NoRedirect)
BROKER_URL, BROKER_TOKEN = (os.environ.get(name, "").strip() for name in ("BROKER_URL", "BROKER_TOKEN"))
if not BROKER_URL.startswith(("http://", "https://")):
    sys.exit("set BROKER_URL: it begins with http:// or https://")
if len(BROKER_TOKEN.split()) != 1:  # the library would print it as it refuses such a header
    sys.exit("set BROKER_TOKEN: the token by which the broker knows the caller, with no space and no line break in it")


def opened(headers, body):
    """Content of a notification; urllib.error.HTTPError when the broker refuses it, or somebody else answers with a redirect."""
    request = urllib.request.Request(
        BROKER_URL + "/v1/merchants/shop/notifications/open",
        data=json.dumps({"headers": dict(headers), "body": body}).encode(),
        headers={"Authorization": "Bearer " + BROKER_TOKEN, "Content-Type": "application/json"},
    )
    with OPENER.open(request, timeout=40) as response:
        return json.load(response)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            notification = opened(self.headers, body)
            operation = notification["content"].get("operation", notification["content"])
            # Write it down here.
            print(f"{notification['kind']} {operation['ecomOperationId']} is {operation['status']}", flush=True)
            self.send_response(200)
        except urllib.error.HTTPError as error:
            print("not opened:", error.code, error.read(300).decode(errors="replace"), flush=True)
            self.send_response(400 if error.code in (400, 413, 422) else 503)
        except Exception as error:  # whatever it was, nothing is written down: the gateway is to send it again
            print("not opened:", type(error).__name__, error, flush=True)
            self.send_response(503)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
print("port", server.server_port, flush=True)
server.serve_forever()
