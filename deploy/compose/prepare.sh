#!/bin/sh
# Makes the demo's keys once: the merchant's, which the sandbox is configured with; the egress's own; and that of an
# existing client behind the egress. Only the user that the programs run as may read them. The configurations are copied
# next to them for this user, since the files of a checkout may be readable by their owner only.
set -eu
# The files of an earlier start belong to that user, and we may no longer change their permissions: so files are created
# with the right ones.
umask 077
cd /run/keys
generate() { [ -f "$1" ] || node /app/dist/programs/cli.js keys generate --out "$1" --public-out "$2"; }
generate client.jwk.json public.jwk.json
generate egress-alias.jwk.json egress-alias.pub.jwk.json
generate shop-client.jwk.json shop-client.pub.jwk.json
cp /settings/broker.yaml /settings/egress.yaml .
printf %s demo-egress > egress-token
node -e '
  const { readFileSync, writeFileSync } = require("node:fs");
  const publicJwk = JSON.parse(readFileSync("public.jwk.json", "utf8"));
  const serviceCode = "137d9304-0368-11ed-b939-0242ac120002";
  writeFileSync("merchants.json", JSON.stringify([{ id: "shop", serviceCode, publicJwk, lifetimeMs: 60000, supersedes: true }]));
'
chown -R 10001:10001 .
