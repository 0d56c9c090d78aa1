import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { parseConfiguration } from './parse-configuration.js';
import {
  flag,
  flagOr,
  list,
  oneOf,
  section,
  type SettingsClass,
  shapesOf,
  text,
  texts,
  wholeNumber,
} from './setting.js';
import { settingsTable, withSettingsTable } from './settings-table.js';
import { BrokerSettings } from './settings/broker-settings.js';
import { EgressDocument } from './settings/egress-settings.js';
import { durationBetween, matching } from './value-rule.js';

const CODE = '137d9304-0368-11ed-b939-0242ac120002';
const pages = {
  'configuration.md': BrokerSettings,
  'egress-configuration.md': EgressDocument,
} as const satisfies Record<string, SettingsClass>;
const pathOf = (page: string): string => fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url));
const committed = readFileSync(pathOf('configuration.md'), 'utf8');

async function written(document: string, page: keyof typeof pages = 'configuration.md'): Promise<string> {
  const file = pathOf(page);
  return format(withSettingsTable(document, pages[page]), { ...(await resolveConfig(file)), filepath: file });
}

/** The settings without a description, or with one that does not fit in a table row. */
function unexplained(settings: SettingsClass): string[] {
  return [...shapesOf(settings)].flatMap(([name, shape]) => {
    if (shape.kind === 'section' || shape.kind === 'list') return unexplained(shape.of);
    return /^\S.*[.…]$/.test(String(shape.meaning)) ? [] : [`${settings.name}.${name}`];
  });
}

describe.each(Object.keys(pages) as (keyof typeof pages)[])('the settings table of docs/%s', (page) => {
  it('is what the settings classes say; `npm run reference` writes it', async () => {
    const document = readFileSync(pathOf(page), 'utf8');
    expect(document).toBe(await written(document, page));
  });

  it('says of every setting, in a sentence, what it means', () => {
    expect(unexplained(pages[page])).toEqual([]);
  });
});

describe('the settings table of docs/configuration.md', () => {
  it.each([
    ['a row is missing', /^\| `log\.level`.*\n/m, ''],
    ['a meaning was changed by hand', 'Port of the API', 'The port of the API'],
    ['a bound was changed by hand', '0 to 65535', '1 to 65535'],
    ['a default was changed by hand', '`8080`', '`8081`'],
  ])('is put right when %s', async (_fault, what, instead) => {
    const wrong = committed.replace(what, instead);
    expect(wrong).not.toBe(committed);
    expect(await written(wrong)).toBe(committed);
  });

  it('shows the default of a sequence as it would be written', () => {
    const [, written = ''] = /^\| `merchants\[\]\.session\.budget` +\| list +\| `([^`]+)`/m.exec(committed) ?? [];
    const merchants = (budget: string): string => `merchants:
  - { id: shop, serviceCode: ${CODE}, clientKeyFiles: [a], gateway: { baseUrl: 'https://a' }${budget} }`;
    const [byDefault, asWritten] = ['', `, session: { budget: ${written} }`].map(
      (budget) => parseConfiguration(merchants(budget), {}).merchants[0]?.session.budget,
    );
    expect(asWritten).toEqual(byDefault);
  });

  it('comes below an example that is accepted', () => {
    const example = /```yaml\n([\s\S]*?)```/.exec(committed)?.[1] ?? '';
    const parsed = parseConfiguration(example, { CHECKOUT_TOKEN_SHA256: 'ab'.repeat(32) });
    expect(parsed.merchants.map(({ id }) => id)).toEqual(['shop']);
    expect(parsed.warnings).toEqual([]);
  });
});

class LampSettings {
  @oneOf('Its colour.', ['red', 'green'])
  readonly colour!: string;

  @wholeNumber('Watts.', 1, 60)
  readonly power: number = 5;
}

class HouseSettings {
  @text('Who lives there.', matching(/^[a-z]$/, 'one of [a-z]'), { optional: true })
  readonly owner?: string;

  @flag('`yes|no` is YAML 1.1.')
  readonly open: boolean = false;

  @flagOr('Warm or not.', 'soon')
  readonly warm: boolean | 'soon' = 'soon';

  @texts('Who may enter.', matching(/^\*$/, "'*'"), 0)
  readonly guests: string[] = [];

  @texts('Who may stay.', matching(/^_$/, '_'), 2)
  readonly friends!: string[];

  @text('How long.', durationBetween('1s', '2h'))
  readonly stay: string = '15m';

  @section(LampSettings) readonly porch: LampSettings = new LampSettings();
  @list(LampSettings, 0) readonly lamps: LampSettings[] = [];
  @list(LampSettings, 1, { meaning: 'Lit at night.', most: 2, example: '[{ colour: red }]' })
  readonly lanterns: LampSettings[] = [{ colour: 'red', power: 5 }];
}

describe('settingsTable', () => {
  it('has a row for each setting, with default, bounds and meaning as the class has them', () => {
    expect(settingsTable(HouseSettings).split('\n')).toEqual([
      '| setting | type | default | allowed | meaning |',
      '| --- | --- | --- | --- | --- |',
      '| `owner` | text | - | one of \\[a-z\\] | Who lives there. |',
      '| `open` | flag | `false` | true or false | `yes\\|no` is YAML 1.1. |',
      '| `warm` | flag or text | `soon` | true, false or soon | Warm or not. |',
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
    expect(withSettingsTable(`# A\n${begin}\nold\n${end}\n| b |\n`, LampSettings)).toBe(
      `# A\n${begin}\n\n${settingsTable(LampSettings)}\n\n${end}\n| b |\n`,
    );
  });

  it.each([
    ['no markers', ''],
    ['no end', begin],
    ['no begin', end],
    ['the end first', `${end}${begin}`],
    ['an end on either side', `${end}${begin}${end}`],
    ['two begins', `${begin}${begin}${end}`],
    ['two ends', `${begin}${end}${end}`],
  ])('refuses a document with %s', (_fault, document) => {
    expect(() => withSettingsTable(document, LampSettings)).toThrow(TypeError);
  });
});

describe('a setting without a meaning', () => {
  class MuteSettings {
    @flag('') readonly empty: boolean = false;
    @flag('Ends in\nthe middle.') readonly broken: boolean = false;
    @flag('Says it.') readonly loud: boolean = false;
  }

  it('is found', () => {
    expect(unexplained(MuteSettings)).toEqual(['MuteSettings.empty', 'MuteSettings.broken']);
  });
});
