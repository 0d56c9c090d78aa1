import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

const PROGRESS_EVERY_MS = 30_000;
const TOLD_LINES = 30;

/** The end of a program's output, by lines. */
class LastLines {
  #lines = [''];

  add(text) {
    const [rest, ...others] = text.split(/\r?\n/);
    this.#lines.push(this.#lines.pop() + rest, ...others);
    this.#lines.splice(0, this.#lines.length - TOLD_LINES - 1);
  }

  all() {
    return this.#lines.filter((line) => line.trim() !== '');
  }
}

/** Tests that are skipped on this machine must not be taken for passed. */
const skippedIn = (lines) => lines.map((line) => /^Tests: .*?(\d+) skipped/.exec(line)?.[1]).find(Boolean);

/** Ends the whole group: a shell, and whatever it has started. */
function end({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Runs a part, and says when it begins, how far it is and how it ends. All of its output is in a file.
 * @param stopping its `abort` ends the part
 * @returns the name, the seconds that it took, whether it passed, and the verdict in words
 */
export async function runPart({ name, proves, command }, { root, folder, stopping, say, everyMs = PROGRESS_EVERY_MS }) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.log`);
  const log = createWriteStream(file);
  const last = new LastLines();
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1_000);
  say(`\n== ${name}: ${proves}`);
  // A group of its own, so that Ctrl-C reaches this program first.
  const child = spawn(command, { shell: true, cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => end(child, 'SIGTERM');
  stopping.addEventListener('abort', stop, { once: true });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log.write(text);
      last.add(text);
    });
  }
  const progress = setInterval(
    () => say(`   ${name}, ${seconds()} s: ${last.all().at(-1) ?? 'no output yet'}`),
    everyMs,
  );
  const code = await new Promise((resolve) => child.once('close', (status, signal) => resolve(status ?? signal)));
  clearInterval(progress);
  stopping.removeEventListener('abort', stop);
  log.end();
  await finished(log);
  const passed = code === 0;
  const skipped = skippedIn(last.all());
  const verdict = passed ? `passed${skipped === undefined ? '' : `, ${skipped} tests skipped`}` : `FAILED (${code})`;
  if (!passed) say([...last.all().slice(-TOLD_LINES), `all of it: ${file}`].map((line) => `   ${line}`).join('\n'));
  say(`== ${name}: ${verdict} (${seconds()} s)`);
  return { name, seconds: seconds(), passed, verdict };
}
