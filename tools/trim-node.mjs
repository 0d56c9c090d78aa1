// Removes OpenSSL's headers from the pinned Node.js: a third of it, and nothing here is compiled against them. What
// pkcs11js is compiled against stays: tools/build-pkcs11.mjs. `npm ci` runs this as `dependencies`.
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');

for (const name of readdirSync(packages).filter((one) => one.startsWith('node-linux-'))) {
  rmSync(join(packages, name, 'include', 'node', 'openssl'), { recursive: true, force: true });
}
