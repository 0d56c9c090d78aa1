#!/bin/sh
# Makes what no two demos may share: key, passwords, tokens. They go to ./made, once.
set -eu
cd "$(dirname "$0")"
cli=${SESSION_BROKER_CLI:-"node ../../../dist/programs/cli.js"}
# The Node.js that the lock file pins, as for the npm scripts: the machine's own may be too old for the program.
PATH="$(cd ../../.. && pwd)/node_modules/.bin:$PATH"
umask 077
mkdir -p made
cd made
[ -f client.jwk.json ] && { echo 'made already: remove the folder "made" to make everything anew' >&2; exit 1; }

random() { node -p 'require("node:crypto").randomBytes(24).toString("base64url")'; }
token=$(random)
redis_password=$(random)
export token redis_password
(cd .. && $cli keys generate --out made/client.jwk.json --public-out made/public.jwk.json)
printf %s "$redis_password" > redis-password
node -e '
  const { createHash, randomUUID } = require("node:crypto");
  const { readFileSync, writeFileSync } = require("node:fs");
  const { token, redis_password: password } = process.env;
  const serviceCode = randomUUID();
  const publicJwk = JSON.parse(readFileSync("public.jwk.json", "utf8"));
  const merchants = [{ id: "shop", serviceCode, publicJwk, lifetimeMs: 60_000, supersedes: true }];
  writeFileSync("service-code", serviceCode);
  writeFileSync("merchants.json", JSON.stringify(merchants));
  writeFileSync("redis.conf", `requirepass ${password}\nsave ""\nappendonly no\nmaxmemory-policy noeviction\n`);
  const sha256 = createHash("sha256").update(token).digest("hex");
  writeFileSync("broker.yaml", readFileSync("../broker.yaml", "utf8").replace("TOKEN_SHA256", sha256));
'
echo "demo token: $token"
