// Writes the PrometheusRule of deploy/kubernetes, and the chart's copy of the rules, from the rules of
// deploy/prometheus; tests keep them in sync.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { writeFormatted } from './write-formatted.mjs';

const deploy = join(dirname(dirname(fileURLToPath(import.meta.url))), 'deploy');
const target = join(deploy, 'kubernetes', 'components', 'monitoring', 'prometheusrule.yaml');
const source = await readFile(join(deploy, 'prometheus', 'rules', 'session-broker.yml'), 'utf8');
const rules = parse(source);
const manifest = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'session-broker' },
  spec: rules,
};
const text = `# Written by \`npm run monitoring\` from deploy/prometheus/rules.\n${stringify(manifest, { lineWidth: 0, blockQuote: 'literal' })}`;
await writeFormatted(target, text);
// A chart cannot read files outside its folder.
await writeFile(join(deploy, 'helm', 'session-broker', 'files', 'rules.yml'), source);
