import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parseConfiguration, parseEgressConfiguration } from './load-configuration.js';
import { type Fields, flag, flagOr, list, oneOf, section, text, texts, wholeNumber } from './setting.js';
import { settingsTable, withSettingsTable } from './settings-table.js';
import { brokerSettings } from './settings/broker-settings.js';
import { egressDocument } from './settings/egress-settings.js';
import { durationBetween, matching } from './value-rule.js';

const pages = {
  'broker-settings.md': brokerSettings,
  'egress-settings.md': egressDocument,
} as const satisfies Record<string, Fields>;
const pathOf = (page: string): string => fileURLToPath(new URL(`../../../docs/reference/${page}`, import.meta.url));

async function written(document: string, page: keyof typeof pages): Promise<string> {
  const file = pathOf(page);
  return format(withSettingsTable(document, pages[page]), { ...(await resolveConfig(file)), filepath: file });
}

/** The settings without a description, or with one that does not fit in a table row. */
function unexplained(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, { shape }]) => {
    if (shape.kind === 'section' || shape.kind === 'list') return unexplained(shape.of);
    return /^\S.*[.…]$/.test(shape.meaning ?? '') ? [] : [name];
  });
}

describe.each(Object.keys(pages) as (keyof typeof pages)[])('the settings table of docs/reference/%s', (page) => {
  it('is what the declarations say; `npm run reference` writes it', async () => {
    const document = readFileSync(pathOf(page), 'utf8');
    expect(document).toBe(await written(document, page));
  });

  it('says of every setting, in a sentence, what it means', () => {
    expect(unexplained(pages[page])).toEqual([]);
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

  it('show in an example of an egress the routes as they are by default', () => {
    const minimal = {
      broker: { url: 'http://localhost:8080' },
      gateway: { baseUrl: 'https://gateway.example' },
      clients: [{ name: 'a', merchant: 'a', token: { sha256: 'ab'.repeat(32) } }],
    };
    const byDefault = parseEgressConfiguration(JSON.stringify({ egress: minimal }), {});
    expect(parseEgressConfiguration(docs('examples/egress.yaml'), environment).routes).toEqual(byDefault.routes);
  });
});

const lamp = {
  colour: oneOf(['red', 'green']).says('Its colour.'),
  power: wholeNumber(1, 60, 5).says('Watts.'),
};

const house = {
  owner: text(matching(/^[a-z]$/, 'one of [a-z]')).optional.says('Who lives there.'),
  open: flag(false).says('`yes|no` is YAML 1.1.'),
  warm: flagOr('soon', true).says('Warm or not.'),
  guests: texts(matching(/^\*$/, "'*'")).says('Who may enter.'),
  friends: texts(matching(/^_$/, '_'), 2).says('Who may stay.'),
  stayMs: text(durationBetween('1s', '2h'), '15m').says('How long.'),
  porch: section(lamp),
  lamps: list(lamp),
  lanterns: list(lamp, { least: 1, most: 2, byDefault: [{ colour: 'red' }] }).says('Lit at night.'),
};

describe('settingsTable', () => {
  it('has a row for each setting, with default, bounds and meaning as declared', () => {
    expect(settingsTable(house).split('\n')).toEqual([
      '| setting | type | default | allowed | meaning |',
      '| --- | --- | --- | --- | --- |',
      '| `owner` | text | - | one of \\[a-z\\] | Who lives there. |',
      '| `open` | flag | `false` | true or false | `yes\\|no` is YAML 1.1. |',
      '| `warm` | flag or text | `true` | true, false or soon | Warm or not. |',
      "| `guests` | texts | `[]` | each '\\*' | Who may enter. |",
      '| `friends` | texts | required | at least 2, each \\_ | Who may stay. |',
      '| `stay` | text | `15m` | a duration from 1s to 2h, such as 90s, 15m or 2h | How long. |',
      '| `porch.colour` | text | required | one of red, green | Its colour. |',
      '| `porch.power` | number | `5` | a whole number from 1 to 60 | Watts. |',
      '| `lamps[].colour` | text | required | one of red, green | Its colour. |',
      '| `lamps[].power` | number | `5` | a whole number from 1 to 60 | Watts. |',
      '| `lanterns` | list | `[{ colour: red }]` | 1 to 2 items | Lit at night. |',
      '| `lanterns[].colour` | text | required | one of red, green | Its colour. |',
      '| `lanterns[].power` | number | `5` | a whole number from 1 to 60 | Watts. |',
    ]);
  });
});

describe('withSettingsTable', () => {
  const begin = '<!-- settings: begin, written by npm run reference -->';
  const end = '<!-- settings: end -->';

  it('replaces what stands between the markers and leaves the rest alone', () => {
    expect(withSettingsTable(`# A\n${begin}\nold\n${end}\n| b |\n`, lamp)).toBe(
      `# A\n${begin}\n\n${settingsTable(lamp)}\n\n${end}\n| b |\n`,
    );
  });
});
