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

  it('shows the default of the routes as it would be written', () => {
    const [, written = ''] =
      /^\| `egress\.routes` +\| list +\| `([^`]+)`/m.exec(docs('reference/egress-settings.md')) ?? [];
    const base = JSON.stringify(minimal).slice(1, -1);
    expect(parse(`{ egress: { ${base}, routes: ${written} } }`).routes).toEqual(
      parse(`{ egress: { ${base} } }`).routes,
    );
  });
});

describe('docs/examples/egress.yaml', () => {
  const example = parse(docs('examples/egress.yaml'));

  it('has a client of each kind', () => {
    const kinds = ['token', 'certificate', 'serviceCodeAliasFile'] as const;
    const shown = kinds.filter((kind) => example.clients.some((client) => client[kind] !== undefined));
    expect(shown).toEqual(kinds);
  });

  it('shows the routes as they are by default, as it says', () => {
    expect(example.routes).toEqual(parse(JSON.stringify({ egress: minimal })).routes);
  });
});
