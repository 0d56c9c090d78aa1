// Writes deploy/grafana/dashboards/session-broker.json from its source, and the chart's copy of it; tests keep them in
// sync.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import '../typescript-sources.mjs';
import { writeFormatted } from '../../../tools/write-formatted.mjs';

const { sessionBrokerDashboard } = await import('./session-broker-dashboard.ts');
const { rows } = await import('./session-broker-panels.ts');

const root = join(import.meta.dirname, '..', '..', '..');
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
await writeFormatted(target, JSON.stringify(sessionBrokerDashboard(rows)));
// A chart cannot read files outside its folder.
await copyFile(target, join(root, 'deploy', 'helm', 'session-broker', 'files', 'dashboard.json'));
