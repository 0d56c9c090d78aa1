import { generateClientKey } from './generate-client-key.js';
import { importServerKey } from './import-key.js';
import { JweThread } from './jwe-thread.js';
import { sealJwe } from './seal-jwe.js';

const entryOf = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const BEGINNING = `import { parentPort } from 'node:worker_threads';`;

describe('a thread that opens and seals', () => {
  let threads: JweThread[] = [];
  let jwe: string;

  beforeAll(async () => {
    const { publicJwk } = await generateClientKey();
    jwe = await sealJwe(Buffer.from('payload'), await importServerKey(publicJwk));
  });
  afterEach(async () => {
    for (const thread of threads.splice(0)) await thread.close();
  });

  const threadOf = (source: string): JweThread => {
    const thread = new JweThread(entryOf(BEGINNING + source));
    threads = [...threads, thread];
    return thread;
  };

  it('fails what is under way when it dies, and is started anew by the next task', async () => {
    const dying = `parentPort.on('message', ({ id, task }) => {
      if (task.jwe.epk.kty === 'EC' && id === 1) process.exit(1);
      parentPort.postMessage({ id, answer: { opened: undefined } });
    });`;
    const thread = threadOf(dying);
    const first = thread.openJwe(jwe, []);
    await expect(first).rejects.toMatchObject({ code: 'internal_error' });
    await expect(thread.openJwe(jwe, [])).rejects.toMatchObject({ code: 'jwe_not_opened' });
  });

  it('fails what is under way when it is closed', async () => {
    const thread = threadOf(`parentPort.on('message', () => undefined);`);
    const failure = expect(thread.openJwe(jwe, [])).rejects.toMatchObject({ code: 'internal_error' });
    await thread.close();
    await failure;
  });

  it('is replaced when it hangs: what is under way fails, and the next task has a thread of its own', async () => {
    const thread = threadOf(`parentPort.on('message', ({ id }) => {
      if (id === 1) for (;;);
      parentPort.postMessage({ id, answer: { opened: undefined } });
    });`);
    const [first, second] = [thread.openJwe(jwe, []), thread.openJwe(jwe, [])];
    const failures = Promise.allSettled([first, second]);
    await new Promise((resolve) => setImmediate(resolve));
    thread.startAfresh();
    const next = thread.openJwe(jwe, []);
    for (const { reason } of (await failures) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'overloaded' });
    await expect(next).rejects.toMatchObject({ code: 'jwe_not_opened' });
  });

  it('is asked nothing that can be refused without a key', async () => {
    const thread = threadOf(`parentPort.on('message', () => process.exit(1));`);
    await expect(thread.openJwe('no JWE', [])).rejects.toMatchObject({ code: 'jwe_malformed' });
    await expect(thread.openJwe(jwe, [], { maxBytes: 10 })).rejects.toMatchObject({ code: 'jwe_too_large' });
  });

  it('receives nothing of the environment', async () => {
    const thread = threadOf(`parentPort.on('message', ({ id }) => {
      const isEmpty = Object.keys(process.env).length === 0;
      parentPort.postMessage({ id, answer: isEmpty ? { opened: undefined } : { failed: true } });
    });`);
    await expect(thread.openJwe(jwe, [])).rejects.toMatchObject({ code: 'jwe_not_opened' });
  });

  it('does not say why a task failed', async () => {
    const thread = threadOf(`parentPort.on('message', ({ id }) => {
      parentPort.postMessage({ id, answer: { failed: true } });
    });`);
    await expect(thread.openJwe(jwe, [])).rejects.toMatchObject({ code: 'internal_error', cause: undefined });
  });
});
