import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Of the changes, in per cent: if fewer are noticed, the run fails. */
export const LEAST_SCORE = 90;

const root = join(import.meta.dirname, '..', '..');
/** A run of the longest spec takes some seconds; a run that hangs counts as noticing, too. */
const HANGS_AFTER_MS = 240_000;
/** The modules of a finished run are not freed while the process lives. */
const MUTANTS_PER_PROCESS = 40;

function startProcess(config) {
  return fork(join(import.meta.dirname, 'jest-runs.mjs'), [config], {
    cwd: root,
    execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  });
}

async function ask(child, question) {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), HANGS_AFTER_MS);
  const died = () => ending.abort();
  child.once('exit', died);
  try {
    child.send(question);
    const [{ noticedBy }] = await once(child, 'message', { signal: ending.signal });
    return noticedBy;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    child.kill();
    return 'no end';
  } finally {
    clearTimeout(timer);
    child.off('exit', died);
  }
}

/**
 * Runs specs against mutants, in several processes at once, and reports which test noticed each mutant first.
 * @param specs in this order, until one notices: fast ones that notice most come first
 */
export async function noticed({ mutants, specs, config, processes, onResult }) {
  const queue = [...mutants];
  const work = async () => {
    let child = startProcess(config);
    for (let run = 1; queue.length > 0; run += 1) {
      const mutant = queue.shift();
      const noticedBy = await ask(child, { mutant, specs });
      onResult({ ...mutant, noticedBy });
      if (run % MUTANTS_PER_PROCESS === 0 || noticedBy === 'no end') {
        child.kill();
        child = startProcess(config);
      }
    }
    child.kill();
  };
  const whole = startProcess(config);
  const broken = await ask(whole, { mutant: null, specs });
  whole.kill();
  if (broken !== undefined) throw new Error(`without a mutant, too, this fails: ${broken}`);
  await Promise.all(Array.from({ length: processes }, work));
}
