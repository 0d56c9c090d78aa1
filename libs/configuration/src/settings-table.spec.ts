import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parseConfiguration, parseEgressConfiguration } from './load-configuration.js';
import type { Fields } from './setting.js';
import { withSettingsTable } from './settings-table.js';
import { brokerSettings } from './settings/broker-settings.js';
import { egressDocument } from './settings/egress-settings.js';

const pages = {
  'broker-settings.md': brokerSettings,
  'egress-settings.md': egressDocument,
} as const satisfies Record<string, Fields>;
const pathOf = (page: string): string => fileURLToPath(new URL(`../../../docs/reference/${page}`, import.meta.url));

async function written(document: string, page: keyof typeof pages): Promise<string> {
  const file = pathOf(page);
  return format(withSettingsTable(document, pages[page]), { ...(await resolveConfig(file)), filepath: file });
}

describe.each(Object.keys(pages) as (keyof typeof pages)[])('the settings table of docs/reference/%s', (page) => {
  it('is what the declarations say; `npm run reference` writes it', async () => {
    const document = readFileSync(pathOf(page), 'utf8');
    expect(document).toBe(await written(document, page));
  });
});

const docs = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url)), 'utf8');
const environment = { CHECKOUT_TOKEN_SHA256: 'ab'.repeat(32) };

describe('the pages about settings', () => {
  const exampleOf = (page: string): string => /```yaml\n([\s\S]*?)```/.exec(docs(page))?.[1] ?? '';

  it('begin with an example that is accepted without a warning', () => {
    const { merchants, warnings } = parseConfiguration(exampleOf('configuration.md'), environment);
    expect([merchants.map(({ id }) => id), warnings]).toEqual([['shop'], []]);
    const egress = parseEgressConfiguration(exampleOf('egress-configuration.md'), environment);
    expect([egress.clients.map(({ name }) => name), egress.warnings]).toEqual([['checkout'], []]);
  });

  it('show in an example of an egress, without a warning, the routes as they are by default', () => {
    const minimal = {
      broker: { url: 'http://localhost:8080' },
      gateway: { baseUrl: 'https://gateway.example' },
      clients: [{ name: 'a', merchant: 'a', token: { sha256: 'ab'.repeat(32) } }],
    };
    const byDefault = parseEgressConfiguration(JSON.stringify({ egress: minimal }), {});
    const { routes, warnings } = parseEgressConfiguration(docs('examples/egress.yaml'), environment);
    expect([routes, warnings]).toEqual([byDefault.routes, []]);
  });
});
