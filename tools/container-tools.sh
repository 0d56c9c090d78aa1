#!/usr/bin/env bash
# Installs what `npm run prove:containers` needs where there is no Docker engine. Installs only what is missing, with
# apt, as root on Debian.
set -euo pipefail

missing=()
command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
command -v slirp4netns >/dev/null || missing+=(slirp4netns)
command -v ip >/dev/null || missing+=(iproute2)
command -v curl >/dev/null || missing+=(curl)
[ ${#missing[@]} -eq 0 ] && exit 0
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
