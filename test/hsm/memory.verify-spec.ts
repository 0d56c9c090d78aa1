import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, endedAfterEach, eventually } from '#libs/testing';
import type { WatchedReplicas } from '../observability/watched-replicas.js';
import { decrypt, endHsmBroker, processOf, sessionOf, startHsmBroker } from './hsm-broker.js';
import { formsOf, foundIn, foundInMemory } from './memory-search.js';
import { pkcs11js, privateJwkOn, SoftToken } from './soft-token.js';

const WORKERS = 4;
const END_BYTES = 16;

const started = endedAfterEach();
const privateJwk = privateJwkOn('P-384');
const forms = formsOf(Buffer.from(privateJwk['d'] ?? '', 'base64url'));

/** Reads and openings without a pause, until told to stop. */
function load(broker: WatchedReplicas): { readonly done: () => number; readonly stop: () => Promise<void> } {
  let [done, isRunning] = [0, true];
  const worker = async (): Promise<void> => {
    while (isRunning) {
      const opened = await decrypt(broker, 'payload');
      if (opened.status === 200 && (await sessionOf(broker)).status === 200) done += 1;
    }
  };
  const workers = Array.from({ length: WORKERS }, worker);
  const stop = async (): Promise<void> => {
    isRunning = false;
    await Promise.all(workers);
  };
  return { done: () => done, stop };
}

/**
 * Whether a heap snapshot has been written to its last member; reads only the end, since it has tens of megabytes and
 * is looked at again and again.
 */
async function isWhole(snapshot: string): Promise<boolean> {
  await using file = await open(snapshot);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read({
    buffer: Buffer.alloc(END_BYTES),
    position: Math.max(0, size - END_BYTES),
  });
  return buffer.toString('latin1', 0, bytesRead).trimEnd().endsWith(']}');
}

/** A heap snapshot of the broker while it works, and, if asked for, the forms found in all of its memory. */
async function dumped(
  keyFile: string,
  token?: SoftToken,
): Promise<{ readonly snapshot: Buffer; readonly inMemory: readonly string[]; readonly children: number }> {
  const folder = started.add(await mkdtemp(join(tmpdir(), 'heap-')), (it) => rm(it, { recursive: true }));
  const flags = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`;
  const broker = started.add(
    await startHsmBroker({
      privateJwk,
      keyFile,
      ...(token && { module: token.module }),
      environment: { NODE_OPTIONS: flags, ...token?.environment },
    }),
    endHsmBroker,
  );
  const working = load(broker);
  await eventually(() => working.done() > 100);
  processOf(broker).signal('SIGUSR2');
  let file = '';
  await eventually(async () => {
    const [name] = (await readdir(folder)).filter((each) => each.endsWith('.heapsnapshot'));
    file = join(folder, name ?? '');
    return name !== undefined && (await isWhole(file));
  });
  const snapshot = await readFile(file);
  const doneBefore = working.done();
  await eventually(() => working.done() > doneBefore + 20);
  const inMemory = foundInMemory(processOf(broker).pid, forms);
  await working.stop();
  return { snapshot, inMemory, children: processOf(broker).children().length };
}

describeWith(['linux', 'softhsm', pkcs11js], 'the memory of a broker under load whose key is in a token', () => {
  it('holds the private scalar nowhere, in no form, on the heap or beside it', async () => {
    const token = started.add(await SoftToken.create(), (it) => it.remove());
    await token.keep({ label: 'shop', privateJwk });
    const { snapshot, inMemory, children } = await dumped(token.keyFile('shop', privateJwk), token);
    expect(snapshot.includes(privateJwk['x'] ?? '')).toBe(true);
    expect(foundIn(snapshot, forms)).toEqual([]);
    expect(inMemory).toEqual([]);
    expect(children).toBe(1);
  });
});

describeWith('linux', 'the memory of a broker under load whose key is in a file', () => {
  it('holds no private scalar on the heap, and holds it beside the heap, where OpenSSL works with it', async () => {
    const { snapshot, inMemory, children } = await dumped(JSON.stringify(privateJwk));
    expect(snapshot.includes(privateJwk['x'] ?? '')).toBe(true);
    expect(foundIn(snapshot, forms)).toEqual([]);
    expect(inMemory).toContain('octets reversed');
    expect(children).toBe(0);
  });
});
