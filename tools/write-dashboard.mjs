// Writes deploy/grafana/dashboards/session-broker.json from its source; a test keeps the two equal.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionBrokerDashboard } from '../deploy/grafana/session-broker-dashboard.ts';
import { rows } from '../deploy/grafana/session-broker-panels.ts';
import { writeFormatted } from './write-formatted.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
await writeFormatted(target, JSON.stringify(sessionBrokerDashboard(rows)));
