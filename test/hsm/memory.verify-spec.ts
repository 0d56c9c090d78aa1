import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describeWith, endedAfterEach, eventually } from '#libs/testing';
import type { WatchedReplicas } from '../observability/watched-replicas.js';
import { decrypt, endHsmBroker, processOf, sessionOf, startHsmBroker } from './hsm-broker.js';
import { pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

const started = endedAfterEach();
const privateJwk = privateJwkOn('P-384');
const scalar = Buffer.from(privateJwk['d'] ?? '', 'base64url');
/** The forms that it can have in a heap snapshot, by name; a snapshot shows no octets of buffers. */
const forms = {
  hex: scalar.toString('hex'),
  decimal: BigInt(`0x${scalar.toString('hex')}`).toString(),
  base64: scalar.toString('base64'),
  base64url: scalar.toString('base64url'),
};

const mapsOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/maps`, 'utf8');

/** A broker that has opened payloads with its key, and a snapshot of its heap. */
async function looked(
  keyFile: string,
  token?: SoftToken,
): Promise<{ readonly broker: WatchedReplicas; readonly snapshot: Buffer }> {
  const folder = started.add(await mkdtemp(join(tmpdir(), 'heap-')), (it) => rm(it, { recursive: true }));
  const environment = {
    ...{ NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}` },
    ...token?.environment,
  };
  const setUp = { privateJwk, keyFile, environment, ...(token && { module: token.module }) };
  const broker = started.add(await startHsmBroker(setUp), endHsmBroker);
  const opened = await Promise.all(Array.from({ length: 100 }, () => decrypt(broker, 'payload')));
  expect(opened.filter(({ status }) => status !== 200)).toEqual([]);
  processOf(broker).signal('SIGUSR2');
  await eventually(async () => (await readdir(folder)).length === 1);
  // It does nothing else while it writes: once it answers again, the snapshot is whole.
  expect((await sessionOf(broker)).status).toBe(200);
  const [name = ''] = await readdir(folder);
  const snapshot = await readFile(join(folder, name));
  expect(snapshot.includes(privateJwk['x'] ?? '')).toBe(true);
  return { broker, snapshot };
}

const foundIn = (snapshot: Buffer): readonly string[] =>
  Object.entries(forms).flatMap(([name, form]) => (snapshot.includes(form) ? [name] : []));

describeWith(['linux', 'softhsm', pkcs11js], 'the memory of a broker whose key is in a token', () => {
  it('holds the private scalar nowhere: what could read the token is loaded by its child alone', async () => {
    const token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk });
    const { broker, snapshot } = await looked(token.keyFile('shop', privateJwk), token);
    expect(foundIn(snapshot)).toEqual([]);
    const library = basename(token.module);
    const children = processOf(broker).children();
    expect(await mapsOf(processOf(broker).pid)).not.toContain(library);
    expect(await Promise.all(children.map(mapsOf))).toEqual([expect.stringContaining(library)]);
  });
});

describeWith('linux', 'the memory of a broker whose key is in a file', () => {
  it('holds no private scalar on the heap, and starts no child', async () => {
    const { broker, snapshot } = await looked(JSON.stringify(privateJwk));
    expect(foundIn(snapshot)).toEqual([]);
    expect(processOf(broker).children()).toEqual([]);
  });
});
