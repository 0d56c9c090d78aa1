#!/usr/bin/env bash
# Installs what the tests start beside Node.js: a real redis-server, the interop peers, Prometheus, Alertmanager, Chromium, the
# proxies of the examples and a few small programs. Only what is missing, with apt, as root on Debian. Tests themselves
# install nothing.
set -euo pipefail

missing=()
command -v jose >/dev/null || missing+=(jose)
/usr/bin/python3 -c 'import jwcrypto' 2>/dev/null || missing+=(python3-jwcrypto)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v promtool >/dev/null || missing+=(prometheus)
command -v prometheus-alertmanager >/dev/null || missing+=(prometheus-alertmanager)
command -v chromium >/dev/null || missing+=(chromium)
command -v nginx >/dev/null || missing+=(nginx)
command -v caddy >/dev/null || missing+=(caddy)
command -v haproxy >/dev/null || missing+=(haproxy)
command -v openssl >/dev/null || missing+=(openssl)
command -v systemd-analyze >/dev/null || missing+=(systemd)
command -v curl >/dev/null || missing+=(curl)
command -v jq >/dev/null || missing+=(jq)
[ ${#missing[@]} -eq 0 ] && exit 0

# The tests start what they need by themselves: no package may start a service of its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
