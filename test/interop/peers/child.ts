import { spawn } from 'node:child_process';

/** Runs a program to its end, with `input` on stdin; gives stdout, or throws with stderr. */
export async function runToEnd(
  [command, ...args]: readonly [string, ...string[]],
  input: string | Buffer = '',
): Promise<Buffer> {
  const child = spawn(command, args, { stdio: 'pipe' });
  const output: Buffer[] = [];
  const complaint: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => complaint.push(chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    // A program that has failed may close its input before all of it is written; its exit code tells.
    child.stdin.once('error', () => undefined);
    child.once('close', resolve);
  });
  child.stdin.end(input);
  const code = await ended;
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${Buffer.concat(complaint).toString()}`);
  return Buffer.concat(output);
}
