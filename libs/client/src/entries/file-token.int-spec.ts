import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../../testing/src/index.js';
import { fileToken } from './file-token.js';
import type { TokenFunction } from '../token-source.js';

describe('a token in a file', () => {
  let folder: string;
  let path: string;
  let clock: FakeClock;
  let token: TokenFunction;

  const ask = (refresh = false): Promise<string> =>
    Promise.resolve(token({ refresh, signal: new AbortController().signal }));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tok-'));
    path = join(folder, 'token');
    clock = new FakeClock();
    token = fileToken(path, { time: clock });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is read without the line break at its end', async () => {
    await writeFile(path, 'first\n');
    expect(await ask()).toBe('first');
  });

  it('refuses a path that is none', () => {
    for (const none of [undefined, '']) {
      expect(() => fileToken(none as never)).toThrow(
        'the path of the token file is missing: is its environment variable set?',
      );
    }
  });

  it('is read again when the last reading is too old, and not before', async () => {
    await writeFile(path, 'first');
    await ask();
    await writeFile(path, 'second');
    await clock.advance(9_999);
    expect(await ask()).toBe('first');
    await clock.advance(1);
    expect(await ask()).toBe('second');
  });

  it('is read again at once after it was refused', async () => {
    await writeFile(path, 'first');
    await ask();
    await writeFile(path, 'second');
    expect(await ask(true)).toBe('second');
    expect(await ask()).toBe('second');
  });

  it('is followed through the links that Kubernetes swaps', async () => {
    await Promise.all(['first', 'second'].map((name) => writeFile(join(folder, name), name)));
    await symlink('first', path);
    expect(await ask()).toBe('first');
    await symlink('second', join(folder, 'next'));
    await rename(join(folder, 'next'), path);
    expect(await ask(true)).toBe('second');
  });

  it.each([
    ['is away', () => rm(path)],
    ['is empty', () => writeFile(path, '')],
    ['holds something else', () => writeFile(path, 'no token at all')],
  ])('stays what it was while the file %s', async (_what, trouble) => {
    await writeFile(path, 'first');
    await ask();
    await trouble();
    expect(await ask(true)).toBe('first');
    await writeFile(path, 'second');
    expect(await ask(true)).toBe('second');
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['cannot be read: ENOENT', 'token_unreadable', () => Promise.resolve()],
    ['holds no token: it is empty', 'token_invalid', () => writeFile(path, '\n')],
    ['holds no token: it has white space or a line break', 'token_invalid', () => writeFile(path, 'canary\ntwo')],
  ])('that %s is an error without its path, which may be the token itself', async (says, code, trouble) => {
    await trouble();
    const message = expect.stringContaining(`The file of fileToken ${says}`) as string;
    await expect(ask()).rejects.toMatchObject({ code, message });
    for (const secret of ['canary', folder]) await expect(ask()).rejects.not.toThrow(secret);
  });
});
