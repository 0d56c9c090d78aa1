import { nearestName } from './check-settings.js';
import { keySet } from './file-contents.js';
import { otherReaders } from './named-files.js';
import type { Fields } from './setting.js';
import { brokerSettings } from './settings/broker-settings.js';
import { egressDocument } from './settings/egress-settings.js';

/** The settings that have one value or a sequence of texts, at any depth. */
const valuesOf = (fields: Fields): readonly { option: string; isDuration: boolean; content?: string }[] =>
  Object.entries(fields).flatMap(([option, { shape }]) => {
    if (shape.kind === 'section' || shape.kind === 'list') return valuesOf(shape.of);
    const content = shape.rule?.content?.kind;
    return [{ option, isDuration: shape.allowed.startsWith('a duration from'), ...(content && { content }) }];
  });

describe('the settings', () => {
  const all = [brokerSettings, egressDocument].flatMap(valuesOf);

  it('end in Ms where they are durations, and in File or Files where they name one, and nowhere else', () => {
    for (const { option, isDuration, content } of all) {
      const names = [/Ms$/.test(option), /Files?$/.test(option)];
      expect([option, ...names]).toEqual([option, isDuration, content !== undefined]);
    }
  });

  it('name files of public content where nothing in them is secret, and secret files everywhere else', () => {
    const open = all.filter(({ content }) => content !== undefined && content !== 'secret');
    expect(new Set(open.map(({ option, content }) => `${option} ${content}`))).toEqual(
      new Set([
        ...['caFile', 'certFile', 'clientCaFile', 'jwksCaFile'].map((option) => `${option} certificates`),
        ...['jwksFile', 'publicKeyFile', 'recipientKeyFile'].map((option) => `${option} public`),
      ]),
    );
  });
});

describe('the name that was meant', () => {
  it.each([
    ['europe/kyv', 'Europe/Kyiv'],
    ['america/argentina/la rioja', 'America/Argentina/La_Rioja'],
    ['Europe/Paris', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20s is %s', (text, expected) => {
    expect(nearestName(text, ['Europe/Kyiv', 'Europe/Rome', 'America/Argentina/La_Rioja'])).toBe(expected);
  });
});

describe('a secret file', () => {
  it.each([
    ['of the broker, for it alone', 0o100600, true, undefined],
    ['of the broker, which its group may read', 0o100640, true, 'its group'],
    ['of the broker, which anybody may read', 0o100604, true, 'every user of the machine'],
    ['of root, which the broker reads through its group', 0o100440, false, undefined],
    ['of root, which a group may write', 0o100460, false, 'its group'],
    ['of root, which anybody may read', 0o100444, false, 'every user of the machine'],
  ])('%s', (...[, mode, isOwn, readers]) => {
    expect(otherReaders(mode, isOwn)).toBe(readers);
  });
});

describe('a file of public keys', () => {
  it.each(['[]', '{"keys":[]}', '{"keys":[1]}', '{"keys":{}}', '{"keys":[{}, {"d": ""}]}', '{"keys":[{"k": ""}]}'])(
    'is not %s',
    (text) => {
      expect(keySet.read(text, 'jwks.json', {} as never)).toHaveProperty('problem');
    },
  );
});
