// Writes the chart's copies of rules and dashboard, and what the chart renders for each folder of deploy/kubernetes; tests
// keep them in sync.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import '../typescript-sources.mjs';
import { writeFormatted } from '../../../tools/write-formatted.mjs';

const { chart, writtenManifests } = await import('./intents.ts');
const { folder, root } = await import('./manifests.ts');

// A chart cannot read files outside its folder.
await copyFile(join(root, 'deploy/prometheus/rules/session-broker.yml'), join(chart, 'files/rules.yml'));
await copyFile(join(root, 'deploy/grafana/dashboards/session-broker.json'), join(chart, 'files/dashboard.json'));
for (const [file, text] of Object.entries(writtenManifests())) await writeFormatted(join(folder, file), text);
