import { checkSettings } from './check-settings.js';
import { type FileName, fileOf, password } from './file-contents.js';
import { withContents } from './named-files.js';
import { section, type SettingsClass, shapesOf, text, texts } from './setting.js';
import { BrokerSettings } from './settings/broker-settings.js';
import { baseUrl, durationBetween, durationMs } from './value-rule.js';

class DoorSettings {
  @text('How long it stays open.', durationBetween('1s', '1h'))
  readonly openMs: number = durationMs('5s');

  @text('Where its keeper is.', baseUrl, { optional: true })
  readonly keeper?: URL;

  @text('The word that opens it.', fileOf(password), { optional: true })
  readonly wordFile?: FileName<string>;

  @texts('Words that opened it once.', fileOf(password), 0)
  readonly oldWordFiles: readonly FileName<string>[] = [];
}

class HouseSettings {
  @section(DoorSettings) readonly door: DoorSettings = new DoorSettings();
}

describe('a setting that is declared', () => {
  it('is there with its default, converted, in a plain object', () => {
    const { settings, faults } = checkSettings({}, HouseSettings);
    expect(settings).toStrictEqual({ door: { openMs: 5_000, oldWordFiles: [] } });
    expect(faults).toEqual([]);
  });

  it('has the value that its rule makes of the text, and each file that it names is known with its path', () => {
    const door = { open: '1m', keeper: 'https://a', wordFile: 'word', oldWordFiles: ['one', 'two'] };
    const { settings, files } = checkSettings({ door }, HouseSettings);
    expect(settings.door).toMatchObject({ openMs: 60_000, keeper: new URL('https://a'), wordFile: 'word' });
    expect(files.map(({ path, file, content }) => [path, file, content.kind])).toEqual([
      ['door.wordFile', 'word', 'secret'],
      ['door.oldWordFiles[0]', 'one', 'secret'],
      ['door.oldWordFiles[1]', 'two', 'secret'],
    ]);
  });

  it('has the content of its file, under the name without File, and is absent when that could not be read', () => {
    const door = { wordFile: 'word', oldWordFiles: ['one', 'two'] };
    const { settings } = checkSettings({ door }, HouseSettings);
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
    const { settings, files, faults } = checkSettings({ door: { open: '2h', wordFile: 'word' } }, HouseSettings);
    expect(settings).toStrictEqual({ door: { wordFile: 'word', oldWordFiles: [] } });
    expect(files).toHaveLength(1);
    expect(faults.map(({ path }) => path)).toEqual(['door.open']);
  });
});

describe('the settings of the broker', () => {
  const textsOf = (settings: SettingsClass): { property: string; isDuration: boolean; namesFile: boolean }[] =>
    [...shapesOf(settings).values()].flatMap((shape) => {
      if (shape.kind === 'section' || shape.kind === 'list') return textsOf(shape.of);
      const isDuration = shape.allowed.startsWith('a duration from');
      return [{ property: shape.property, isDuration, namesFile: shape.rule?.content !== undefined }];
    });

  it('end in Ms where they are durations, and in File or Files where they name one, and nowhere else', () => {
    for (const { property, isDuration, namesFile } of textsOf(BrokerSettings)) {
      expect([property, /Ms$/.test(property), /Files?$/.test(property)]).toEqual([property, isDuration, namesFile]);
    }
  });
});
