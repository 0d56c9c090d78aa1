// Writes the table of docs/configuration.md from the settings classes, as compiled; a test holds the two equal.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { withSettingsTable } from '../dist/libs/configuration/src/settings-table.js';
import { BrokerSettings } from '../dist/libs/configuration/src/settings/broker-settings.js';

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'configuration.md');
const options = { ...(await resolveConfig(target)), filepath: target };
await writeFile(target, await format(withSettingsTable(await readFile(target, 'utf8'), BrokerSettings), options));
