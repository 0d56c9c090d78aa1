// Writes deploy/grafana/dashboards/session-broker.json from its source, and the chart's copy of it; tests keep them equal.
import { copyFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFormatted } from './write-formatted.mjs';

// The sources name one another as the compiler wants it: by what it would make of them.
const fromSource = ({ parentURL = '' }) => parentURL.endsWith('.ts');
registerHooks({
  resolve: (name, context, next) =>
    next(fromSource(context) ? name.replace(/^(\.{1,2}\/.*)\.js$/, '$1.ts') : name, context),
});
const { sessionBrokerDashboard } = await import('../deploy/grafana/session-broker-dashboard.ts');
const { rows } = await import('../deploy/grafana/session-broker-panels.ts');

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
await writeFormatted(target, JSON.stringify(sessionBrokerDashboard(rows)));
// A chart reads no file outside of its folder.
await copyFile(target, join(root, 'deploy', 'helm', 'session-broker', 'files', 'dashboard.json'));
