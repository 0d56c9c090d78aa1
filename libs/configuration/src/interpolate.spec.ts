import fc from 'fast-check';
import { interpolate } from './interpolate.js';

const environment = { HOST: 'gateway.example', EMPTY: '', TRICKY: '${HOST} $& $1' };

const text = (source: string): string | undefined => {
  const result = interpolate(source, environment);
  return result.kind === 'text' ? result.text : undefined;
};

describe('interpolate', () => {
  it.each([
    ['https://${HOST}/x', 'https://gateway.example/x'],
    ['${HOST}${HOST}', 'gateway.examplegateway.example'],
    ['${HOST:-other}', 'gateway.example'],
    ['${NOT_SET:-other}', 'other'],
    ['${NOT_SET:-}', ''],
    ['${EMPTY}', ''],
    ['${EMPTY:-other}', 'other'],
    ['$${HOST}', '${HOST}'],
    ['$HOST and $ and {HOST}', '$HOST and $ and {HOST}'],
    ['${TRICKY}', '${HOST} $& $1'],
  ])('makes of %s', (source, expected) => expect(text(source)).toBe(expected));

  it.each(['${NOT_SET}', '${constructor}', '${__proto__}', '${toString}'])('misses the variable of %s', (source) => {
    expect(interpolate(source, environment)).toEqual({
      kind: 'unset',
      variables: [/\w+/.exec(source)?.[0]],
      problem: expect.stringMatching(/^needs the environment variable \w+, which is not set; set it$/),
    });
  });

  it.each(['${', '${}', '${1A}', '${A-B}', '${A:B}', '${HOST', 'x ${HOST:-y'])(
    'refuses the broken placeholder %s',
    (source) => {
      expect(interpolate(source, environment)).toEqual({
        kind: 'fault',
        problem: expect.stringContaining('has a "${"'),
      });
    },
  );

  it.each([
    ['${HOST}', true],
    ['${HOST:-1}', true],
    [' ${HOST}', false],
    ['${HOST}${HOST}', false],
    ['$${HOST}', false],
  ])('knows whether %s is one placeholder and nothing else', (source, wholePlaceholder) => {
    expect(interpolate(source, environment)).toMatchObject({ wholePlaceholder });
  });

  it('leaves every text without a "${" as it is', () => {
    fc.assert(
      fc.property(
        fc.string().filter((source) => !source.includes('${')),
        (source) => expect(text(source)).toBe(source),
      ),
      { numRuns: 50 },
    );
  });
});
