// Writes the version of package.json to every place that repeats it: `npm version 1.2.3` calls it.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeVersion } from './version-places.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
for (const file of writeVersion(root)) console.log(file);
