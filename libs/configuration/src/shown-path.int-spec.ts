import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shownPath } from './read-file.js';

describe('the path at which a file was looked for', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shown-path-'));
    await mkdir(join(folder, 'secrets'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['a name that ends like one of a file', 'client.jwk.json'],
    ['the same in capital letters', 'CA.PEM'],
    ['a name in a folder that is there', 'secrets/token'],
    ['what is there, and is of another kind', 'secrets'],
    ['a name beside or above the configuration', './token'],
    ['a name above the configuration', '../elsewhere/token'],
  ])('is shown, from the root on: %s', async (_what, file) => {
    expect(await shownPath(file, folder)).toBe(join(folder, file));
  });

  it('is shown where it starts at the root and leads through a folder that is there', async () => {
    const file = join(folder, 'not-mounted', 'shop', 'token');
    expect(await shownPath(file, '/')).toBe(file);
    expect(await shownPath(join(folder, 'token'), folder)).toBe(join(folder, 'token'));
  });

  it.each([
    ['a word of letters and digits', 'Zk7canaryQ'],
    ['a token in hexadecimal digits', '5f3a7c0e9d1b4a68b2c4d6e8f0a1b3c5'],
    ['a UUID', '137d9304-0368-11ed-b939-0242ac120002'],
    ['base64 with a slash', 'Zk7c/anaryQ+8='],
    ['base64 that begins with a slash', '/Zk7canaryQ+8='],
    ['base64 that begins with two', '//Zk7canaryQ+8='],
    ['a JWT', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.Zk7canaryQ-_'],
    ['a key in PEM on one line', '-----BEGIN PRIVATE KEY----- MIG2AgEAMBAGByqGSM49 -----END PRIVATE KEY-----'],
    ['the same with the name of a file behind it', '-----BEGIN PRIVATE KEY----- MIG2AgEAMBAGByqGSM49 shop.pem'],
    ['a key in JSON', '{"kty":"EC","d":"Zk7canaryQ/../x.json"}'],
    ['a name that is longer than names of files are', `${'Zk7canaryQ'.repeat(26)}.pem`],
  ])('is not shown of what may be a secret in its place: %s', async (_what, file) => {
    expect(await shownPath(file, folder)).toBeUndefined();
  });
});
