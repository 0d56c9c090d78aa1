import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexer, type Token, type Tokens, walkTokens } from 'marked';
import { deathCodes } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { exitCodes } from '../../apps/cli/src/exit-codes.js';
import { runCli } from '../../apps/cli/src/program.js';

const RUNBOOKS = join(import.meta.dirname, '..', '..', 'docs', 'runbooks');
const pages = readdirSync(RUNBOOKS).map((name) => ({ name, text: readFileSync(join(RUNBOOKS, name), 'utf8') }));
/** What a reader can copy: a code span, or a line of code, that begins with the name of the command. */
function commandsOf(text: string): readonly string[] {
  const found: string[] = [];
  void walkTokens(lexer(text), (token: Token) => {
    if (token.type === 'codespan') found.push((token as Tokens.Codespan).text.replaceAll(/\s+/g, ' '));
    if (token.type === 'code') found.push(...(token as Tokens.Code).text.split('\n'));
  });
  return found.map((line) => line.trim()).filter((line) => line.startsWith('session-broker '));
}

const written = pages.flatMap(({ name, text }) => commandsOf(text).map((command) => [name, command] as const));

describe('a runbook', () => {
  it('on sessions that are rejected names each code by which the bank says that one is dead', () => {
    const text = pages.find(({ name }) => name === 'rejection-storm.md')?.text ?? '';
    expect(deathCodes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it.each(written)('has commands that are taken as they stand: %s: %s', async (_name, command) => {
    const silent = { out: () => undefined, err: () => undefined };
    const environment = { BROKER_URL: 'http://127.0.0.1:9' };
    const context = { environment, signal: AbortSignal.abort(), clock: new FakeClock(), terminal: silent };
    // The broker is the one on the page; neither it nor any file exists, so only the way the line is written can be
    // wrong.
    const words = command
      .replace(/\s+[#<].*$/, '')
      .replace('/dev/stdin', 'oncall.token')
      .split(' ');
    expect(await runCli(words.slice(1), context)).not.toBe(exitCodes.usage);
  });
});
