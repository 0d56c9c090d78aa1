import { parentPort } from 'node:worker_threads';
import type { JweAnswer, JweTask } from './jwe-thread.js';
import { openWithHandles } from './open-with-handles.js';
import { sealToHandle } from './seal-to-handle.js';

async function answerTo(task: JweTask): Promise<JweAnswer> {
  try {
    return task.kind === 'open'
      ? { opened: await openWithHandles(task.jwe, task.handles) }
      : { sealed: await sealToHandle(task.plaintext, task.handle) };
  } catch {
    // An error's text could quote what was to be sealed.
    return { failed: true };
  }
}

parentPort?.on('message', ({ id, task }: { readonly id: number; readonly task: JweTask }) => {
  void answerTo(task).then((answer) => parentPort?.postMessage({ id, answer }));
});
