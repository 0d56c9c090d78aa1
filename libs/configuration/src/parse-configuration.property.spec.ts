import fc from 'fast-check';
import { ConfigurationError } from './fault.js';
import { parseConfiguration, parseEgressConfiguration } from './load-configuration.js';
import type { Fields } from './setting.js';
import { brokerSettings } from './settings/broker-settings.js';
import { egressDocument } from './settings/egress-settings.js';

const CANARY = 'Zk7canaryQ';
const FEW = { numRuns: 40 };

const kinds: [string, Fields, typeof parseConfiguration | typeof parseEgressConfiguration][] = [
  ['broker', brokerSettings, parseConfiguration],
  ['egress', egressDocument, parseEgressConfiguration],
];

/** Objects that look like a configuration: real setting names, at the right places, with any value. */
function nearly(fields: Fields, leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const members = Object.entries(fields).map(([option, { shape }]): [string, fc.Arbitrary<unknown>] => {
    const of = shape.kind === 'section' || shape.kind === 'list' ? nearly(shape.of, leaf) : leaf;
    const isMany = shape.kind === 'list' || shape.kind === 'texts';
    const whole = isMany ? fc.array(of, { maxLength: 2 }) : of;
    return [option.replace(/Ms$/, ''), fc.oneof({ weight: 4, arbitrary: whole }, leaf)];
  });
  return fc.record(Object.fromEntries(members), { requiredKeys: [] });
}

/** Everything that a refusal says; throws what is no refusal. */
function saidBy(parsing: () => unknown): string {
  try {
    parsing();
    return '';
  } catch (error) {
    if (error instanceof ConfigurationError && error.faults.length > 0)
      return JSON.stringify([error.message, error.detail, error.faults]);
    throw error;
  }
}

describe('a text that is read as a configuration', () => {
  it('is accepted or refused, and nothing else, whatever it is', () => {
    const text = fc.oneof(fc.string({ maxLength: 100 }), fc.json({ maxDepth: 4 }));
    fc.assert(
      fc.property(text, (source) => void saidBy(() => parseConfiguration(source, {}))),
      FEW,
    );
  });

  it.each(kinds)('is refused without a word of its values or of a variable: that of the %s', (_kind, fields, parse) => {
    const leaf = fc.constantFrom<unknown>(
      ...[CANARY, `${CANARY} x`, '${SECRET}', 'x-${SECRET}', [CANARY], { token: CANARY }, { a: { b: CANARY } }],
      ...[`https://u:${CANARY}@a`, 5, true, '5s', '20%', 'test', 'production', 'https://a', '127.0.0.1'],
    );
    const before = Object.getOwnPropertyNames(Object.prototype);
    fc.assert(
      fc.property(nearly(fields, leaf), (raw) => {
        expect(saidBy(() => parse(JSON.stringify(raw), { SECRET: CANARY }))).not.toContain(CANARY);
      }),
      FEW,
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });

  it('is refused without a word of it where it is not YAML, and no key that does not look like a name', () => {
    const canary = 'Zk7-canary-0Q';
    const broken = fc.constantFrom(': ', '"', '[', '{', '\t', '@', '&', '*', '!', '|', '%', '- - ', '? ');
    fc.assert(
      fc.property(fc.array(fc.oneof(broken, fc.constant(canary), fc.constant('\n')), { maxLength: 20 }), (parts) => {
        expect(saidBy(() => parseConfiguration(parts.join(''), {}))).not.toContain(canary);
      }),
      FEW,
    );
  });
});
