import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseEgressConfiguration } from './load-configuration.js';

const docs = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url)), 'utf8');
const page = docs('egress-configuration.md');
const environment = { CHECKOUT_TOKEN_SHA256: 'ab'.repeat(32) };
const minimal = {
  broker: { url: 'http://localhost:8080' },
  gateway: { baseUrl: 'https://gateway.example' },
  clients: [{ name: 'a', merchant: 'a', token: { sha256: 'ab'.repeat(32) } }],
};
const parse = (text: string): ReturnType<typeof parseEgressConfiguration> =>
  parseEgressConfiguration(text, environment);

describe('docs/egress-configuration.md', () => {
  it('begins with an example that is accepted without a warning', () => {
    const parsed = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    expect(parsed.clients.map(({ name }) => name)).toEqual(['checkout']);
    expect(parsed.warnings).toEqual([]);
  });
});

describe('docs/examples/egress.yaml', () => {
  const example = parse(docs('examples/egress.yaml'));

  it('shows the routes as they are by default, as it says', () => {
    expect(example.routes).toEqual(parse(JSON.stringify({ egress: minimal })).routes);
  });
});
