import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigurationError } from './fault.js';
import { parseConfiguration, parseEgressConfiguration } from './parse-configuration.js';
import type { ParsedConfiguration } from './broker-configuration.js';
import { nearlySettings, piecesOfYaml, validConfiguration } from './configuration.arbitrary.js';
import type { SettingsClass } from './setting.js';
import { BrokerSettings } from './settings/broker-settings.js';
import { EgressDocument } from './settings/egress-settings.js';

const CANARY = 'Zk7canaryQ';

const kinds: [string, SettingsClass, typeof parseConfiguration | typeof parseEgressConfiguration][] = [
  ['broker', BrokerSettings, parseConfiguration],
  ['egress', EgressDocument, parseEgressConfiguration],
];

/** The configuration, or undefined if it was refused in the only permitted way. */
function parsedOrRefused(text: string, environment = {}): ParsedConfiguration | undefined {
  return resultOrRefused(() => parseConfiguration(text, environment));
}

function resultOrRefused<Result>(parsing: () => Result): Result | undefined {
  try {
    return parsing();
  } catch (error) {
    if (error instanceof ConfigurationError && error.faults.length > 0) return undefined;
    throw error;
  }
}

function everythingSaid(parsing: () => unknown): string {
  try {
    parsing();
    return '';
  } catch (error) {
    return error instanceof ConfigurationError ? JSON.stringify([error.message, error.detail, error.faults]) : 'other';
  }
}

describe('parseConfiguration as a property', () => {
  it('answers any text with a configuration or a ConfigurationError, never with anything else', () => {
    const text = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 100 }));
    fc.assert(
      fc.property(text, (source) => void parsedOrRefused(source)),
      { numRuns: 30 },
    );
  });

  it('answers texts made of YAML and placeholder syntax in the same way', () => {
    fc.assert(
      fc.property(piecesOfYaml, (source) => void parsedOrRefused(source, { a: 'b' })),
      { numRuns: 30 },
    );
  });

  it('answers any JSON in the same way', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (source) => void parsedOrRefused(source)),
      { numRuns: 30 },
    );
  });

  it.each(kinds)(
    'answers the settings of the %s in the same way, and leaves Object.prototype alone',
    (_kind, settings, parse) => {
      const leaf = fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom('20%', '5s', '${HOME}', 'https://a', 'production', 'test', 'body', true, 8080, 'a'),
      );
      const before = Object.getOwnPropertyNames(Object.prototype);
      fc.assert(
        fc.property(
          nearlySettings(settings, leaf),
          (raw) => void resultOrRefused(() => parse(JSON.stringify(raw), {})),
        ),
        { numRuns: 30 },
      );
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    },
  );

  it.each(kinds)('quotes no value of the file of the %s and no variable in what it says', (_kind, settings, parse) => {
    const leaf = fc.constantFrom<unknown>(
      CANARY,
      `${CANARY} x`,
      '${SECRET}',
      'x-${SECRET}',
      [CANARY],
      { token: CANARY },
      { a: { b: CANARY } },
      `https://u:${CANARY}@a`,
      5,
    );
    fc.assert(
      fc.property(nearlySettings(settings, leaf), (raw) => {
        const said = everythingSaid(() => parse(JSON.stringify(raw), { SECRET: CANARY }));
        expect(said).not.toBe('other');
        expect(said).not.toContain(CANARY);
      }),
      { numRuns: 30 },
    );
  });

  it('quotes nothing of a text that is not YAML either, and no key that does not look like a name', () => {
    const canary = 'Zk7-canary-0Q';
    const broken = fc.constantFrom(': ', '"', '[', '{', '\t', '@', '&', '*', '!', '|', '%', '- - ', '? ');
    fc.assert(
      fc.property(fc.array(fc.oneof(broken, fc.constant(canary), fc.constant('\n')), { maxLength: 20 }), (parts) => {
        expect(everythingSaid(() => parseConfiguration(parts.join(''), {}))).not.toContain(canary);
      }),
      { numRuns: 30 },
    );
  });

  it('accepts every valid configuration, and reads the same from JSON, YAML and placeholders', () => {
    fc.assert(
      fc.property(validConfiguration, (raw) => {
        const fromJson = parsedOrRefused(JSON.stringify(raw));
        const viaEnvironment = stringify({ ...raw, log: { level: '${LEVEL:-info}' } });
        expect(fromJson).toBeDefined();
        expect(parsedOrRefused(stringify(raw))).toEqual(fromJson);
        expect(parsedOrRefused(viaEnvironment, { LEVEL: raw.log?.level })).toEqual(fromJson);
      }),
      { numRuns: 30 },
    );
  });
});
