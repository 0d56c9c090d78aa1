// Puts the command beside those of what is installed, for a shell with node_modules/.bin on its path: npm links the commands
// of packages, and not the project's own one. On Windows a link to a script is no program; there it is `npm run cli --`.
// This runs as the script `dependencies`, as the build does: with a script `prepare`, npx would refuse to link the project.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const links = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.bin');
const link = join(links, 'session-broker');

if (existsSync(links) && process.platform !== 'win32') {
  rmSync(link, { force: true });
  symlinkSync(join('..', '..', 'bin', 'session-broker'), link);
}
