// Writes the table of docs/configuration.md from the settings classes, as compiled; a test keeps the two equal.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSettingsTable } from '../dist/libs/configuration/src/settings-table.js';
import { BrokerSettings } from '../dist/libs/configuration/src/settings/broker-settings.js';
import { writeFormatted } from './write-formatted.mjs';

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'configuration.md');
await writeFormatted(target, withSettingsTable(await readFile(target, 'utf8'), BrokerSettings));
