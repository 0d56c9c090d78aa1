#!/usr/bin/env node
import { SystemClock } from '#libs/clock';
import { runCli } from './program.js';
import type { Terminal } from './terminal.js';

const terminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  // https://no-color.org: whatever it is set to.
  hasColours: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
};

const ending = new AbortController();
// Ctrl-C arrives twice below npm, from the terminal and from npm: one more signal must not cut the ending short.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
// The reader of a pipe may leave early (`| head`): then there is nobody left to talk to.
process.stdout.on('error', () => process.exit());

process.exitCode = await runCli(process.argv.slice(2), {
  terminal,
  environment: process.env,
  signal: ending.signal,
  clock: new SystemClock(),
});
