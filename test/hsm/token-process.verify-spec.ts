import { writeFile } from 'node:fs/promises';
import { createECDH } from 'node:crypto';
import { join } from 'node:path';
import { describeWith, endedAfterAll, endedAfterEach } from '#libs/testing';
import { TokenProcess, type TokenReference, tokenReferenceOf } from '#libs/pkcs11';
import { PIN, pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

const ENTRY = new URL('../../dist/libs/pkcs11/src/token-process-entry.js', import.meta.url);
const KEY = privateJwkOn('P-384');

function expectedSecret(): { readonly point: Buffer; readonly secret: Buffer } {
  const [ephemeral, own] = [createECDH('secp384r1'), createECDH('secp384r1')];
  own.setPrivateKey(Buffer.from(KEY['d'] ?? '', 'base64url'));
  const point = ephemeral.generateKeys();
  return { point, secret: own.computeSecret(point) };
}

describeWith(['softhsm', pkcs11js], 'a key in a token', () => {
  let token: SoftToken;
  const started = endedAfterAll();
  const processes = endedAfterEach();
  const { point, secret } = expectedSecret();

  beforeAll(async () => {
    token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk: KEY });
  });

  function processOf(limitMs = 60_000, entry = ENTRY): TokenProcess {
    const parts = { entry, limitMs, environment: { ...process.env, ...token.environment } };
    return processes.add(new TokenProcess(parts), (it) => Promise.resolve(it.close()));
  }

  function reference(...[label, changes]: Parameters<SoftToken['uri']>): TokenReference {
    const read = tokenReferenceOf(token.uri(label, changes));
    if ('problem' in read) throw new Error(read.problem);
    return read;
  }

  it('makes the agreement that its scalar makes', async () => {
    expect(secret.equals(await processOf().derive(reference('shop'), point))).toBe(true);
  });

  it('is asked for many agreements at once, and each gets its own', async () => {
    const asked = processOf();
    const own = createECDH('secp384r1');
    own.setPrivateKey(Buffer.from(KEY['d'] ?? '', 'base64url'));
    const points = Array.from({ length: 20 }, () => createECDH('secp384r1').generateKeys());
    const secrets = await Promise.all(points.map((each) => asked.derive(reference('shop'), each)));
    expect(secrets.map((each, index) => own.computeSecret(points[index] ?? point).equals(each))).not.toContain(false);
  });

  it('that goes away is a named failure, and works again once it is back', async () => {
    const asked = processOf();
    await asked.derive(reference('shop'), point);
    await token.goAway();
    try {
      await expect(asked.derive(reference('shop'), point)).rejects.toMatchObject({ fault: 'module_failed' });
      await expect(asked.inspect(reference('shop'))).rejects.toMatchObject({ fault: 'module_failed' });
    } finally {
      await token.comeBack();
    }
    expect(secret.equals(await asked.derive(reference('shop'), point))).toBe(true);
  });

  it('whose file with the PIN is changed is opened with the new one, and a refused one is not tried twice', async () => {
    const asked = processOf();
    const pinFile = join(token.folder, 'changing-pin');
    await writeFile(pinFile, 'wrong one', { mode: 0o600 });
    const changing = reference('shop', { pinFile });
    const refusals = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      refusals.push(await asked.derive(changing, point).catch((error: unknown) => error));
    }
    expect(refusals).toMatchObject([
      { fault: 'pin_refused', mark: 'CKR_PIN_INCORRECT' },
      { fault: 'pin_refused', mark: undefined },
    ]);
    await writeFile(pinFile, `${PIN}\n`);
    expect(secret.equals(await asked.derive(changing, point))).toBe(true);
  });

  it.each([
    ['module_not_loaded', () => reference('shop', { module: '/nowhere/module.so' })],
    ['token_absent', () => reference('shop', { token: 'another' })],
    ['pin_unreadable', () => reference('shop', { pinFile: '/nowhere/pin' })],
    ['key_absent', () => reference('another')],
  ])('is refused with a name of its own: %s', async (fault, wanted) => {
    await expect(processOf().derive(wanted(), point)).rejects.toMatchObject({ fault });
  });

  it.each([
    ['key_not_p384', 'on P-256', { privateJwk: privateJwkOn('P-256') }],
    ['derivation_refused', 'not for agreements', { privateJwk: KEY, derive: false }],
  ])('is refused with a name of its own: %s', async (fault, label, key) => {
    await token.keep({ label, ...key });
    await expect(processOf().derive(reference(label), point)).rejects.toMatchObject({ fault });
  });

  it('is refused when two have its label, and when two tokens have theirs', async () => {
    await token.keep({ label: 'twice', privateJwk: KEY });
    await token.keep({ label: 'twice', privateJwk: KEY });
    await expect(processOf().derive(reference('twice'), point)).rejects.toMatchObject({ fault: 'key_ambiguous' });
    await token.initialize('twin');
    await token.initialize('twin');
    const twin = reference('shop', { token: 'twin' });
    await expect(processOf().derive(twin, point)).rejects.toMatchObject({ fault: 'token_ambiguous' });
  });

  it('whose module hangs is given up, and the next question has a process of its own', async () => {
    const file = join(token.folder, 'hanging.mjs');
    await writeFile(file, "process.on('message', () => { for (;;); });");
    const asked = processOf(500, new URL(`file://${file}`));
    const questions = [1, 2].map(() => asked.derive(reference('shop'), point));
    for (const settled of await Promise.allSettled(questions)) {
      expect(settled).toMatchObject({ status: 'rejected', reason: { fault: 'no_answer' } });
    }
    await expect(asked.derive(reference('shop'), point)).rejects.toMatchObject({ fault: 'no_answer' });
  });

  it('whose module brings its process down is a named failure, and the next question starts another', async () => {
    const file = join(token.folder, 'dying.mjs');
    await writeFile(file, "process.on('message', () => process.kill(process.pid, 'SIGSEGV'));");
    const asked = processOf(60_000, new URL(`file://${file}`));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(asked.derive(reference('shop'), point)).rejects.toMatchObject({ fault: 'process_ended' });
    }
  });
});
