#!/bin/sh
# Installs what the tests start besides Node.js: tools/test-tools.json lists it, and says what needs each. Installs only
# what is missing, with apt, as root on Debian; elsewhere it says what is missing. Tests themselves install nothing.
#   tools/test-tools.sh gate    what `npm test` needs
#   tools/test-tools.sh verify  everything
exec node "$(dirname "$0")/install-test-tools.mjs" "$@"
