// Writes deploy/grafana/dashboards/session-broker.json from its source; a test holds the two equal.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { sessionBrokerDashboard } from '../deploy/grafana/session-broker-dashboard.ts';
import { rows } from '../deploy/grafana/session-broker-panels.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'deploy', 'grafana', 'dashboards', 'session-broker.json');
const options = { ...(await resolveConfig(target)), filepath: target };
await writeFile(target, await format(JSON.stringify(sessionBrokerDashboard(rows)), options));
