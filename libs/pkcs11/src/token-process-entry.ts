import { TokenError } from './token-fault.js';
import type { TokenAnswer, TokenQuestion } from './token-process.js';
import { type Pkcs11, TokenModule } from './token-session.js';

const modules = new Map<string, TokenModule>();

async function moduleAt(path: string): Promise<TokenModule> {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const module = new TokenModule(await installed(), path);
  modules.set(path, module);
  return module;
}

async function installed(): Promise<Pkcs11> {
  try {
    return (await import('pkcs11js')).default;
  } catch {
    throw new TokenError('not_installed');
  }
}

async function answerTo({ reference, point }: TokenQuestion): Promise<TokenAnswer> {
  try {
    const module = await moduleAt(reference.module);
    return point === undefined
      ? { facts: await module.inspect(reference) }
      : { secret: await module.derive(reference, Buffer.from(point)) };
  } catch (error) {
    if (!(error instanceof TokenError)) return { fault: 'module_failed' };
    return { fault: error.fault, ...(error.mark === undefined ? {} : { mark: error.mark }) };
  }
}

// One after the other: PKCS#11 calls block, and only one question at a time may reopen a module.
let last: Promise<unknown> = Promise.resolve();
process.on('message', ({ id, question }: { readonly id: number; readonly question: TokenQuestion }) => {
  last = last.then(async () => {
    const answer = await answerTo(question);
    process.send?.({ id, answer });
    if ('secret' in answer) answer.secret.fill(0);
  });
});
// It ends with its parent process: a signal to both must not take the key from a parent that is still answering.
process.on('SIGTERM', () => undefined);
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
