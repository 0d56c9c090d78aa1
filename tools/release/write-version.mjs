// Writes the version of package.json wherever else it is: `npm version 1.2.3` does it by itself.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeVersion } from './version-places.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
for (const file of writeVersion(root)) console.log(file);
