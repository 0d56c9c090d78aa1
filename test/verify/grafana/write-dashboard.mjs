// Writes deploy/grafana/dashboards/session-broker.json from its source, and the chart's copy of it; tests keep them in
// sync.
import { copyFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { writeFormatted } from '../../../tools/write-formatted.mjs';

// The sources import each other the way the compiler wants it: by the names of its output.
const fromSource = ({ parentURL = '' }) => parentURL.endsWith('.ts');
registerHooks({
  resolve: (name, context, next) =>
    next(fromSource(context) ? name.replace(/^(\.{1,2}\/.*)\.js$/, '$1.ts') : name, context),
});
const { sessionBrokerDashboard } = await import('./session-broker-dashboard.ts');
const { rows } = await import('./session-broker-panels.ts');

const root = join(import.meta.dirname, '..', '..', '..');
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
await writeFormatted(target, JSON.stringify(sessionBrokerDashboard(rows)));
// A chart cannot read files outside its folder.
await copyFile(target, join(root, 'deploy', 'helm', 'session-broker', 'files', 'dashboard.json'));
