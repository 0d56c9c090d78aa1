set -eu
command -v jq > /dev/null || { echo 'install jq, by which this program reads and writes JSON' >&2; exit 1; }
for name in BROKER_URL GATEWAY_URL; do
  case $(printenv "$name") in http://?* | https://?*) ;; *) echo "set $name: it begins with http:// or https://" >&2; exit 1 ;; esac
done
trimmed() { printf '%s' "$1" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//'; }
terminal=$(trimmed "${MERCHANT_ID-}")
[ -n "$terminal" ] || { echo "set MERCHANT_ID: the terminal's id at the bank" >&2; exit 1; }
operation=$(trimmed "${OPERATION_ID-}")
[ -n "$operation" ] || { echo 'set OPERATION_ID: the operationId of the purchase of which something is given back' >&2; exit 1; }
token=$(printf '%s' "${BROKER_TOKEN-}") # without a line break at its end
case $token in '' | *[[:space:]]*) echo 'set BROKER_TOKEN: the token by which the broker knows the caller, with no space and no line break in it' >&2; exit 1 ;; esac
id=$(trimmed "${MERCHANT_REQUEST_ID-}")
[ -n "$id" ] || id=refund-$(date +%s)-$$

# A separate file for the header keeps the token out of the process list.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
echo "Authorization: Bearer $token" > "$work/token"
ask="keep $id: the notification or the bank tells its status, never send it under a new merchantRequestId"
again='it may be sent again with the same MERCHANT_REQUEST_ID'
follows="this program has sent nothing to the bank, and $again"
has=
fail() { echo "$has$1; $2" >&2; exit 1; } # fail WHAT WHAT-FOLLOWS
lost() { fail "$1" "nobody knows whether the bank has the refund: $ask"; }
member() { # member NAME FILE: its text or number; nothing where that is absent or null, or the file is no JSON
  jq -rs --arg name "$1" 'if length == 1 then .[0][$name]? | strings, numbers else empty end' "$2" 2> "$work/no-json" || :
}

answered=
is_known() { case $answered in *" $1 "*) ;; *) return 1 ;; esac; } # is_known URL: it has answered, and speaks what it is asked in

broker() { # broker PATH MEMBER ARGUMENT…: what the broker says is in $work/said, and has that member
  path=$1 wanted=$2 failed=0; shift 2
  : > "$work/said"
  said=$(curl -sS --max-time 45 -o "$work/said" -w '%{http_code}' -H @"$work/token" "$@" "${BROKER_URL%/}/v1/merchants/shop$path") || failed=$?
  hint=
  case $failed:$BROKER_URL in
    0:*) answered="$answered $BROKER_URL " ;;
    35:*) hint='; does it begin with http://?' ;;
    52:http:* | 55:http:* | 56:http:*) is_known "$BROKER_URL" || hint='; does it begin with https://?' ;;
  esac
  [ "$failed" = 0 ] || fail "$path: no broker answers at $BROKER_URL (BROKER_URL)$hint" "$follows"
  if [ "$said" = 200 ] && [ -n "$(member "$wanted" "$work/said")" ]; then return; fi
  [ -z "$(member code "$work/said")" ] || fail "the broker refuses $path: $(jq -c . "$work/said")" "$follows"
  fail "$path: a $said that is not the broker's: is BROKER_URL right?" "$follows"
}

use() { # takes the session that the broker has just given, and seals the refund to its key
  cp "$work/said" "$work/session"
  jq -r '"content-type: text/plain", "x-api_version: V1", "x-device_id: \(.deviceId)", "x-refresh_token: \(.refreshToken // "")"' "$work/session" > "$work/headers"
  jq --rawfile plaintext "$work/refund" '{plaintext: $plaintext, recipient: .serverPublic}' "$work/session" > "$work/plain"
  broker /payloads/encrypt jwe --json @"$work/plain"
  member jwe "$work/said" | tr -d '\n' > "$work/sealed"
}

is_dead() { # by the code first, then by a 401, except where the bank has closed the access
  printf '%s\n' "$code" | grep -Eqx 'b_(expired_token|used_token|previous_auth_token_expired|unknown_device|session_doesnt_exists?)' ||
    { [ "$status" = 401 ] && [ "$code" != b_auth_token_expired ]; }
}

words() { # what a refusal is about, which its code alone does not tell: the bank's own words, a piece of them, as JSON
  jq -js 'if length == 1 then .[0] | .msgText?, .errorCauses? | strings, arrays, objects | select(length > 0) | " " + tojson[:300] else empty end' \
    "$work/answer" 2> "$work/no-json" || :
}

is_no_gateway() { # an egress or a broker has refused it, which says nothing of the session
  case $status in 401 | 404 | 405 | 415) ;; *) return 1 ;; esac
  [ "$(member serviceId "$work/answer")" = session-egress ] && return
  case $(member type "$work/answer") in urn:session-broker:problem:*) ;; *) return 1 ;; esac
}

post() { # sends what is sealed, and knows status and code of the answer; curl follows no redirect unless it is told to
  failed=0
  : > "$work/answer"
  status=$(curl -sS --max-time 45 -o "$work/answer" -w '%{http_code} %{time_pretransfer}' -H @"$work/headers" --data-binary @"$work/sealed" \
    "${GATEWAY_URL%/}/ecom/execute_request/payments/v3/refund") || failed=$?
  begun=${status#* } status=${status%% *} # when curl began to send, which is never without a connection
  hint=
  case $failed:$GATEWAY_URL in
    0:*) answered="$answered $GATEWAY_URL " ;;
    52:http:* | 55:http:* | 56:http:*) is_known "$GATEWAY_URL" || hint='; does GATEWAY_URL begin with https://?' ;;
  esac
  case $failed:$status in
    3:* | 6:* | 7:* | 60:*) fail 'it was not sent: nothing answers at GATEWAY_URL that is trusted' "$again" ;;
    35:*) fail 'it was not sent: no TLS handshake with what answers at GATEWAY_URL; does it begin with http://?' "$again" ;;
    0:3??) lost "a redirect ($status) is no answer of the gateway" ;;
    0:*) ;;
    28:*) [ "$begun" != 0.000000 ] || fail 'it was not sent: no connection with GATEWAY_URL came about in time' "$again"; lost 'the answer is lost' ;;
    *) lost "the answer is lost$hint" ;;
  esac
  jwe=$(jq -rs 'if length == 1 then .[0].jwe? | strings else empty end' "$work/answer" 2> "$work/no-json" || :)
  code=$(member msgCode "$work/answer")
  case $code in [!A-Za-z]* | *[!A-Za-z0-9_]*) lost "$status with a msgCode that is no code" ;; esac
  refusal="the gateway says to the refund: $status ${code:-without a code of the bank}${code:+$(words)}"
  ! is_no_gateway || fail 'GATEWAY_URL leads to an egress or a broker, and to no gateway' "nothing was sent to the bank, and nothing was reported; $again"
}

echo "sending the refund $id" >&2
jq -n --arg id "$id" --arg terminal "$terminal" --arg operation "$operation" --arg date "$(date -u '+%Y-%m-%d %H:%M:%S.00+00:00')" \
  '{merchantRequestId: $id, merchantId: $terminal, operationId: $operation, coinAmount: 100, date: $date,
    notificationUrl: env.NOTIFICATION_URL, notificationEncryption: true} | del(.[] | nulls)' > "$work/refund"
refused='the bank does not have it by this request, while one that was sent before with the same id may be there'

broker /session deviceId
use
post
if [ -z "$jwe" ] && is_dead; then
  denied="the bank does not have it by this request, and $again"
  case $code in b_*) ;; *) denied="$denied; so says the gateway's interface of a 401, which something in between, such as a proxy, may have sent" ;; esac
  follows="$refusal; $denied"
  jq --arg reason "${code:-http_401}" '{generation, reason: $reason}' "$work/session" > "$work/report"
  broker /session/rejections deviceId --json @"$work/report"
  use
  post
  [ -n "$jwe" ] || ! is_dead || fail "$refusal, with two sessions: is GATEWAY_URL right?" "$denied"
fi
[ -n "$jwe" ] || case $status:$code in
  5??:?* | *:b_unknown_error) lost "$status $code is no refusal$(words)" ;;
  *:b_duplicate_field_value) fail "$refusal" "the bank has a request with this id already: $ask" ;;
  404:?*) fail "$refusal: is GATEWAY_URL right?" "$refused" ;;
  *:?*) fail "$refusal" "$refused" ;;
  404:) lost "$status is no answer of the gateway: is GATEWAY_URL right?" ;;
  *) lost "$status is no answer of the gateway" ;;
esac

has='the bank HAS the refund, but its answer was not opened: '
follows=$ask
jq '{jwe}' "$work/answer" > "$work/sealed-answer"
broker /payloads/decrypt plaintext --json @"$work/sealed-answer"
member plaintext "$work/said" > "$work/opened"
jq -e 'type == "object"' "$work/opened" > "$work/is-object" 2>&1 || fail 'what was opened is no JSON object' "$follows"
echo "refund $(member ecomOperationId "$work/opened") is $(member status "$work/opened")"
