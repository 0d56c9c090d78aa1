// Writes deploy/grafana/dashboards/session-broker.json from its source; a test holds the two equal.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionBrokerDashboard } from '../deploy/grafana/session-broker-dashboard.ts';
import { rows } from '../deploy/grafana/session-broker-panels.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
await writeFile(target, `${JSON.stringify(sessionBrokerDashboard(rows), undefined, 2)}\n`);
