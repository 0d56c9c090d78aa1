import fc from 'fast-check';
import type { Fields } from '../../libs/configuration/src/setting.js';

/** Objects that look like a configuration: real setting names, at the right places, with any value. */
export function nearlySettings(fields: Fields, leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const members = Object.entries(fields).map(([option, { shape }]): [string, fc.Arbitrary<unknown>] => {
    const name = option.replace(/Ms$/, '');
    if (shape.kind !== 'section' && shape.kind !== 'list')
      return [name, shape.kind === 'texts' ? fc.oneof(fc.array(leaf, { maxLength: 3 }), leaf) : leaf];
    const one = nearlySettings(shape.of, leaf);
    const whole = shape.kind === 'list' ? fc.array(one, { maxLength: 3 }) : one;
    return [name, fc.oneof({ weight: 4, arbitrary: whole }, leaf)];
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: [] });
}

const port = fc.integer({ min: 1, max: 65_535 });
const duration = fc.integer({ min: 1, max: 59 }).map((seconds) => `${seconds}s`);
const validMerchant = fc.record(
  {
    required: fc.boolean(),
    session: fc.record(
      {
        renewBefore: fc.integer({ min: 20, max: 50 }).map((percent) => `${percent}%`),
        safetyMargin: fc.oneof(fc.constant('5%'), duration),
        fallbackLifetime: fc.integer({ min: 1, max: 24 }).map((hours) => `${hours}h`),
        budget: fc.uniqueArray(fc.record({ calls: fc.integer({ min: 1, max: 1_000 }), per: duration }), {
          minLength: 1,
          maxLength: 4,
          selector: ({ per }) => per,
        }),
      },
      { requiredKeys: [] },
    ),
    gateway: fc.record(
      {
        baseUrl: fc.webUrl({ validSchemes: ['https'], size: 'small' }),
        timeout: duration,
        supersedes: fc.constantFrom(true, false, 'unknown'),
      },
      { requiredKeys: ['baseUrl'] },
    ),
    clientKeyFiles: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['gateway', 'clientKeyFiles'] },
);
/** Accepted as it is, whatever values are generated. */
export const validConfiguration = fc
  .record(
    {
      http: fc.record({ port, docs: fc.boolean() }, { requiredKeys: [] }),
      management: fc.record({ host: fc.ipV4(), port: fc.constant(0) }, { requiredKeys: ['port'] }),
      log: fc.record({ level: fc.constantFrom('debug', 'info', 'warn', 'error') }),
      merchants: fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/), fc.uuid(), validMerchant), {
        minLength: 1,
        maxLength: 4,
        selector: ([id]) => id,
      }),
    },
    { requiredKeys: ['merchants', 'management'] },
  )
  .map((raw) => ({
    ...raw,
    merchants: raw.merchants.map(([id, serviceCode, merchant]) => ({ id, serviceCode, ...merchant })),
  }));

const PIECES = [
  'a',
  ': ',
  '\n',
  '  ',
  '- ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '&a ',
  '*a',
  '|',
  '>',
  '!!',
  '? ',
  '${',
  '}',
  ':-',
  '#',
  ',',
  '---\n',
  '<<: ',
  'http',
  'merchants',
  '1',
  '~',
  '%',
  '\t',
  '\\',
];

/** Fragments of YAML and placeholder syntax, in any order. */
export const piecesOfYaml = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join(''));
