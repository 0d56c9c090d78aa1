// Makes `npx session-broker` work in a clone: npm links the commands of what is installed, and not the package's own one. On
// Windows a link to a script is no program; there it is `npm run cli --`.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const links = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.bin');
const link = join(links, 'session-broker');

if (existsSync(links) && process.platform !== 'win32') {
  rmSync(link, { force: true });
  symlinkSync(join('..', '..', 'bin', 'session-broker'), link);
}
