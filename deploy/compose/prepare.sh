#!/bin/sh
# Makes the demo's client key once, and tells the sandbox of it. Only the user of the programs may read it.
set -eu
cd /run/keys
[ -f client.jwk.json ] || node /app/dist/apps/cli/src/main.js keys generate --out client.jwk.json --public-out public.jwk.json
node -e '
  const { readFileSync, writeFileSync } = require("node:fs");
  const publicJwk = JSON.parse(readFileSync("public.jwk.json", "utf8"));
  const serviceCode = "137d9304-0368-11ed-b939-0242ac120002";
  writeFileSync("merchants.json", JSON.stringify([{ id: "shop", serviceCode, publicJwk, lifetimeMs: 60000, supersedes: true }]));
'
chown -R 10001:10001 .
