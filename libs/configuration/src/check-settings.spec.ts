import { checkSettings, nearestName } from './check-settings.js';
import { fileOf, password } from './file-contents.js';
import { withContents } from './named-files.js';
import { type Fields, section, text, texts } from './setting.js';
import { brokerSettings } from './settings/broker-settings.js';
import { baseUrl, durationBetween } from './value-rule.js';

const house = {
  door: section({
    openMs: text(durationBetween('1s', '1h'), '5s').says('How long it stays open.'),
    keeper: text(baseUrl).optional.says('Where its keeper is.'),
    wordFile: text(fileOf(password)).optional.says('The word that opens it.'),
    oldWordFiles: texts(fileOf(password)).says('Words that opened it once.'),
  }),
};

describe('a setting that is declared', () => {
  it('is there with its default, converted, in a plain object', () => {
    const { settings, faults } = checkSettings({}, house);
    expect(settings).toStrictEqual({ door: { openMs: 5_000, oldWordFiles: [] } });
    expect(faults).toEqual([]);
  });

  it('has the value that its rule makes of the text, and each file that it names is known with its path', () => {
    const door = { open: '1m', keeper: 'https://a', wordFile: 'word', oldWordFiles: ['one', 'two'] };
    const { settings, files } = checkSettings({ door }, house);
    expect(settings.door).toMatchObject({ openMs: 60_000, keeper: new URL('https://a'), wordFile: 'word' });
    expect(files.map(({ path, file, rule }) => [path, file, rule.kind])).toEqual([
      ['door.wordFile', 'word', 'secret'],
      ['door.oldWordFiles[0]', 'one', 'secret'],
      ['door.oldWordFiles[1]', 'two', 'secret'],
    ]);
  });

  it('has the content of its file, under the name without File, and is absent when that could not be read', () => {
    const door = { wordFile: 'word', oldWordFiles: ['one', 'two'] };
    const { settings } = checkSettings({ door }, house);
    const contents = new Map([
      ['door.wordFile', undefined],
      ['door.oldWordFiles[0]', undefined],
      ['door.oldWordFiles[1]', 'sesame'],
    ]);
    expect(withContents(settings, contents)).toStrictEqual({
      door: { openMs: 5_000, oldWords: [undefined, 'sesame'] },
    });
  });

  it('is left out when it is wrong, and what is right beside it stays', () => {
    const { settings, files, faults } = checkSettings({ door: { open: '2h', wordFile: 'word' } }, house);
    expect(settings).toStrictEqual({ door: { wordFile: 'word', oldWordFiles: [] } });
    expect(files).toHaveLength(1);
    expect(faults.map(({ path }) => path)).toEqual(['door.open']);
  });
});

describe('the settings of the broker', () => {
  const textsOf = (fields: Fields): { option: string; isDuration: boolean; namesFile: boolean }[] =>
    Object.entries(fields).flatMap(([option, { shape }]) => {
      if (shape.kind === 'section' || shape.kind === 'list') return textsOf(shape.of);
      const isDuration = shape.allowed.startsWith('a duration from');
      return [{ option, isDuration, namesFile: shape.rule?.content !== undefined }];
    });

  it('end in Ms where they are durations, and in File or Files where they name one, and nowhere else', () => {
    for (const { option, isDuration, namesFile } of textsOf(brokerSettings)) {
      expect([option, /Ms$/.test(option), /Files?$/.test(option)]).toEqual([option, isDuration, namesFile]);
    }
  });
});

describe('the name that was meant', () => {
  const names = ['Europe/Kyiv', 'Europe/Rome', 'America/Argentina/La_Rioja'];

  it.each([
    ['europe/kyv', 'Europe/Kyiv'],
    ['Europe/Roma', 'Europe/Rome'],
    ['america/argentina/la rioja', 'America/Argentina/La_Rioja'],
    ['Europe/Paris', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20s is %s', (text, expected) => {
    expect(nearestName(text, names)).toBe(expected);
  });
});
