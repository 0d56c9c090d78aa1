// Writes the PrometheusRule of deploy/kubernetes from the rules of deploy/prometheus; a test keeps the two equal.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { writeFormatted } from './write-formatted.mjs';

const deploy = join(dirname(dirname(fileURLToPath(import.meta.url))), 'deploy');
const target = join(deploy, 'kubernetes', 'components', 'monitoring', 'prometheusrule.yaml');
const rules = parse(await readFile(join(deploy, 'prometheus', 'rules', 'session-broker.yml'), 'utf8'));
const manifest = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'session-broker' },
  spec: rules,
};
const text = `# Written by \`npm run monitoring\` from deploy/prometheus/rules.\n${stringify(manifest, { lineWidth: 0, blockQuote: 'literal' })}`;
await writeFormatted(target, text);
