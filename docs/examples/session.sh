#!/bin/sh
# Reads a session, follows it, reports it as dead, and seals and opens a payload. Needs curl and sed.
#   BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… sh docs/examples/session.sh, and BROKER_MERCHANT=… for a merchant not named shop
set -eu
trimmed() { printf '%s' "$1" | tr -s '[:space:]' ' ' | sed 's/^ //; s/ $//'; }
url=$(trimmed "${BROKER_URL-}") token=$(trimmed "${BROKER_TOKEN-}")
case $url,$token in
  *' '* | *,) ;;
  http://* | https://*) shop="$url/v1/merchants/${BROKER_MERCHANT:-shop}" ;;
esac
: "${shop:?set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://, and the token has no line break}"
# A separate file for the header keeps the token out of the process list.
header=$(mktemp) told=$(mktemp)
trap 'rm -f "$header" "$told"' EXIT
echo "Authorization: Bearer $token" > "$header"
# If the broker says when to come back (Retry-After), it is asked again then, up to four times. If that is more than a
# minute away, it has no session to give, and its answer says why.
call() {
  for try in 1 2 3 4 5; do
    failed=0
    answer=$(curl -sS --fail-with-body --max-time 40 -D "$told" -H @"$header" "$@") || failed=$?
    case $failed:$answer in
      0:*'"generation":'* | 0:*'"jwk":'* | 0:*'"jwe":'* | 0:*'"plaintext":'* | 0:*': 304' | 28:*'id: '*) echo "$answer" && return ;;
      22:*'"code":'*) echo "the broker refuses: $answer" >&2 ;;
      0:* | 22:*) echo "this is not the broker's: is BROKER_URL right?" >&2 && exit 1 ;;
      *) echo "nothing answers at $url (BROKER_URL)" >&2 && exit 1 ;;
    esac
    pause=$(tr -d '\r' < "$told" | sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\)$/\1/p')
    [ "$try" -lt 5 ] && [ "${pause:-61}" -le 60 ] || exit 1
    echo "waiting $pause s, as the broker asks" >&2
    sleep "$pause"
  done
}
member() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

echo "reading the session: where there is none yet, the broker answers after 30 s at the latest" >&2
session=$(call -H 'Prefer: wait=30' "$shop/session")
generation=$(echo "$session" | member generation)
echo "generation $generation until $(echo "$session" | member expiresAt)"
# 304 while it is the current one; with `Prefer: wait=30` as well, the broker waits up to 30 s for a newer one.
again=$(call -w 'asked again: %{http_code}' -H "If-None-Match: \"$generation\"" "$shop/session")
echo "${again##*\}}"

# The current session and each new one; a second is enough to see the first.
events=$(call --no-show-error --max-time 1 "$shop/session/events")
echo "$events" | sed -n 's/^id: /event: generation /p'

# As if a call with the previous session had been refused. Report the generation that you used.
generation=$((generation - 1))
newer=$(call --json "{\"generation\": $generation, \"reason\": \"b_expired_token\"}" "$shop/session/rejections")
echo "rejected: newer is $([ "$(echo "$newer" | member generation)" -gt "$generation" ] && echo yes || echo no)"

# Sealed to the merchant's own key, so that it can be opened again here; without a recipient, to serverPublic.
key=$(call "$shop/client-key")
jwk=$(echo "$key" | sed 's/.*"jwk":\({[^}]*}\).*/\1/')
sealed=$(call --json "{\"plaintext\": \"a payment\", \"recipient\": $jwk}" "$shop/payloads/encrypt")
opened=$(call --json "{\"jwe\": \"$(echo "$sealed" | member jwe)\"}" "$shop/payloads/decrypt")
echo "opened: $(echo "$opened" | member plaintext)"
