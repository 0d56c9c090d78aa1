// Links the command next to those of the installed packages, for shells with node_modules/.bin on their path: npm links
// the commands of packages, but not the project's own. On Windows a link to a script cannot be run; use `npm run cli
// --` there. This runs as the `dependencies` script, as the build does: with a `prepare` script, npx would refuse to
// link the project. The pinned Node.js is linked as well, where npm has not done it: npm 10 links no command of a package
// that only a folder of the project depends on.
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const links = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.bin');
const link = join(links, 'session-broker');

if (existsSync(links) && process.platform !== 'win32') {
  rmSync(link, { force: true });
  symlinkSync(join('..', '..', 'bin', 'session-broker'), link);
}

const packages = dirname(links);
const node = existsSync(packages) && readdirSync(packages).find((name) => name.startsWith('node-linux-'));
if (node && existsSync(links) && !existsSync(join(links, 'node'))) {
  symlinkSync(join('..', node, 'bin', 'node'), join(links, 'node'));
}
