// Writes the tables of docs/reference from the compiled declarations; a
// test keeps the two in sync.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSettingsTable } from '../dist/libs/configuration/src/settings-table.js';
import { brokerSettings } from '../dist/libs/configuration/src/settings/broker-settings.js';
import { egressDocument } from '../dist/libs/configuration/src/settings/egress-settings.js';
import { writeFormatted } from './write-formatted.mjs';

const docs = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs/reference');
for (const [page, settings] of [
  ['broker-settings.md', brokerSettings],
  ['egress-settings.md', egressDocument],
]) {
  const target = join(docs, page);
  await writeFormatted(target, withSettingsTable(await readFile(target, 'utf8'), settings));
}
