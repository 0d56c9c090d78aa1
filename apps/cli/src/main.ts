#!/usr/bin/env node
import { SystemClock } from '#libs/clock';
import { endingSignal } from './ending-signal.js';
import { lostOutput } from './lost-output.js';
import { runCli } from './program.js';
import type { Terminal } from './terminal.js';

const isDumb = process.env['TERM'] === 'dumb';
const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  // https://no-color.org: any non-empty value counts.
  hasColours: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && !isDumb,
  ...(process.stderr.isTTY && !isDumb && { progress: (text) => void process.stderr.write(`\r\u001b[K${text}`) }),
};

const ending = endingSignal(process);
process.stdout.on('error', (error: Error) => process.exit(lostOutput(error, terminal)));

process.exitCode = await runCli(process.argv.slice(2), {
  terminal,
  environment: process.env,
  get signal() {
    return ending();
  },
  clock: new SystemClock(),
});
