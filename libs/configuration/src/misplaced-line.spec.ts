import { readYaml } from './read-yaml.js';

const problems = (lines: readonly string[]): string[] =>
  readYaml(`${lines.join('\n')}\n`, {}).faults.map(({ problem }) => problem);

const FITS_NOT = 'which does not fit the lines around it';
const OTHERWISE = 'the line begins further to the left or right than the lines that it belongs to';

const merchants = [
  'merchants:',
  '  - id: shop',
  '    serviceCode: 5f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d',
  '    required: false',
  '    clientKeyFiles: [client.jwk.json]',
  '    gateway:',
  '      baseUrl: http://127.0.0.1:8081',
  '      environment: test',
  '  - id: kiosk',
  '    serviceCode: 6f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d',
  '    clientKeyFiles: [kiosk.jwk.json]',
  'http:',
  '  port: 8080',
  'store: { type: memory }',
];

/** @param changes the new text of lines, by their number from 1 */
const changed = (changes: Record<number, string>): string[] => merchants.map((line, at) => changes[at + 1] ?? line);

describe('a line that begins where it does not belong', () => {
  it.each<[string, Record<number, string>, string[]]>([
    ['none', {}, []],
    [
      'a name',
      { 4: '   required: false' },
      [`line 4, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`],
    ],
    ['an item', { 9: '   - id: kiosk' }, [`line 9, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 2`]],
    [
      'the first item',
      { 2: '   - id: shop' },
      [`line 2, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 2`],
    ],
    [
      'the first line',
      { 1: ' merchants:' },
      [`line 1, column 1: this line is indented by 1, ${FITS_NOT}; indent it by 0`],
    ],
    ['a tab', { 4: '\trequired: false' }, ['line 4, column 1: the line is indented with a tab; use spaces']],
    [
      'a tab behind blanks',
      { 9: '  \t- id: kiosk' },
      ['line 9, column 3: the line is indented with a tab; use spaces'],
    ],
    [
      'one of two that should begin alike',
      { 8: '     environment: test' },
      [`line 8, column 1: ${OTHERWISE}: it is indented by 5 and line 7 by 6; indent it by 4 or 6, or line 7 by 5`],
    ],
    [
      'an item with all of its lines',
      {
        9: '   - id: kiosk',
        10: '     serviceCode: 6f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d',
        11: '     clientKeyFiles: [kiosk.jwk.json]',
      },
      [
        `line 9, column 1: this item is indented by 3, ${FITS_NOT}; indent it by 2, and move its other lines by as much`,
      ],
    ],
    [
      'an item with all of its lines, below a section of the one above',
      {
        9: '    - id: kiosk',
        10: '      serviceCode: 6f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d',
        11: '      clientKeyFiles: [kiosk.jwk.json]',
      },
      [
        `line 9, column 1: this item is indented by 4, ${FITS_NOT}; indent it by 2, and move its other lines by as much`,
      ],
    ],
    [
      'an item with all of its lines, at the left edge',
      {
        9: '- id: kiosk',
        10: '  serviceCode: 6f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d',
        11: '  clientKeyFiles: [kiosk.jwk.json]',
      },
      [
        `line 9, column 1: this item is indented by 0, ${FITS_NOT}; indent it by 2, and move its other lines by as much`,
      ],
    ],
    [
      'a dash without a space',
      { 9: '  -id: kiosk' },
      ['line 9, column 3: a space is missing after the dash; put one there'],
    ],
    [
      'two lines',
      { 4: '   required: false', 10: '   serviceCode: 6f0c2f6e-4d0c-4d9e-9b1e-3a4f5a6b7c8d' },
      [
        `line 4, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`,
        `line 10, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`,
      ],
    ],
    [
      'a line above something else that is wrong',
      { 4: '   required: false', 14: 'store: { type: ${STORE} }' },
      [
        `line 4, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`,
        'line 14, column 17: "${" does not belong here; inside { } and [ ] put "${NAME}" in quotes; ' +
          'reading stopped there: fix this, and check again',
      ],
    ],
    [
      'a line below something else that is wrong',
      { 3: '    serviceCode:5f0c2f6e', 9: '   - id: kiosk' },
      [
        'line 3, column 5: a space is missing after "serviceCode:"; put one there',
        `line 9, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 2`,
      ],
    ],
    [
      'a line above a quote that is never closed',
      { 4: '   required: false', 13: '  host: "127.0.0.1' },
      [
        `line 4, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`,
        'line 13, column 9: a double quote opens here and is never closed; close it after the value',
      ],
    ],
  ])('is told alone: %s', (_name, changes, expected) => {
    expect(problems(changed(changes))).toEqual(expected);
    const withReturns = changed(changes).map((line) => `${line}\r`);
    expect(problems(withReturns)).toEqual(expected);
  });

  it.each<[string, Record<number, string>, RegExp]>([
    ['a colon is missing', { 4: '    required false' }, /^line [34], .*(?:colon|YAML)/],
    [
      'a bracket is not closed',
      { 5: '    clientKeyFiles: [client.jwk.json' },
      /^line 6, .*bracket above it is not closed/,
    ],
    ['a space is missing', { 4: '    required:false' }, /^line 4, column 5: a space is missing after "required:"/],
  ])('is not made of one where %s', (_name, changes, expected) => {
    const [first] = problems(changed(changes));
    expect(first).toMatch(expected);
    expect(first).not.toMatch(/is indented by/);
  });

  it('is an item that is read as more of the one above it', () => {
    const keys = [
      '    clientKeyFiles:',
      '      - next.jwk.json',
      '        - client.jwk.json',
      '       - last.jwk.json',
    ];
    const said = 'because its dash is indented further than the one above; indent both alike';
    expect(readYaml(`${merchants.with(4, keys.join('\n')).join('\n')}\n`, {}).faults).toEqual([
      { path: 'merchants[0].clientKeyFiles[0]', problem: `includes line 7, ${said}` },
    ]);
    const folded = ['    clientKeyFiles:', '      - a file', '        - of: two'];
    expect(problems(merchants.with(4, folded.join('\n')))).not.toEqual([]);
    const long = ['    clientKeyFiles:', '      - a long', '        name -of- a file'];
    expect(problems(merchants.with(4, long.join('\n')))).toEqual([]);
  });

  it('is found in a long file, too', () => {
    const many = ['merchants:', ...Array.from({ length: 1_000 }, () => merchants.slice(1, 8)).flat()];
    const changed = many.with(5_001, '   required: false');
    expect(many[5_001]).toBe('    required: false');
    expect(problems(changed)).toEqual([`line 5002, column 1: this line is indented by 3, ${FITS_NOT}; indent it by 4`]);
  });

  it('is not looked for without end: the last one that is told says so', () => {
    const many = ['merchants:', ...Array.from({ length: 100 }, () => merchants.slice(1, 8)).flat()];
    const said = problems(many.map((line) => line.replace('    required', '   required')));
    const isWrong = many.map((line) => line.includes('required'));
    expect(said.length).toBeGreaterThan(1);
    expect(said.length).toBeLessThan(100);
    for (const each of said) expect(isWrong[Number(/^line (\d+)/.exec(each)?.[1]) - 1]).toBe(true);
    const stopped = said.map((each) => each.endsWith('; reading stopped there: fix this, and check again'));
    expect(stopped.indexOf(true)).toBe(said.length - 1);
  });
});
