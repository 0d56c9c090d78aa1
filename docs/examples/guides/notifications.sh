set -eu
case ${BROKER_URL-} in http://* | https://*) ;; *) echo "set BROKER_URL: it begins with http:// or https://" >&2; exit 1 ;; esac
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
token=$(printf '%s' "${BROKER_TOKEN-}") # without a line break at its end
case $token in '' | *[[:space:]]*) echo "set BROKER_TOKEN: the token by which the broker knows the caller, with no space and no line break in it" >&2; exit 1 ;; esac
echo "Authorization: Bearer $token" > "$work/token"
member() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

body=$(tr -d '\n' < "$NOTIFICATION_FILE" | sed 's/\\/\\\\/g; s/"/\\"/g')
echo "{\"headers\": {}, \"body\": \"$body\"}" > "$work/notification"
opened=$(curl -sS --fail-with-body -H @"$work/token" --json @"$work/notification" \
  "$BROKER_URL/v1/merchants/shop/notifications/open") || {
  case $opened in
    *'"code":'*) echo "the broker refuses /notifications/open: $opened" >&2 ;;
    *) echo "no broker answers there: is BROKER_URL right?" >&2 ;;
  esac
  exit 1
}
operation=$(echo "$opened" | sed 's/.*"operation"://')
echo "$(echo "$opened" | sed 's/,.*//' | member kind) $(echo "$operation" | member ecomOperationId) is $(
  echo "$operation" | member status)"
