import { cleanTerminal, type Line, tableLines } from './terminal.js';

const ESCAPE = '\u001b';

describe('what is printed', () => {
  function printed(hasColours: boolean, lines: readonly Line[]): string {
    const said: string[] = [];
    const say = (text: string): void => void said.push(text);
    cleanTerminal({ out: say, err: say, hasColours }).lines(lines);
    return said.join('\n');
  }

  it('has colours where a terminal shows it, in columns that do not count them', () => {
    const rows = tableLines([
      [{ text: 'shop' }, { text: 'no session', tone: 'red' }, { text: '7' }],
      [{ text: 'kiosk' }, { text: 'fresh' }, { text: '10' }],
    ]);
    expect(printed(false, rows)).toBe('shop   no session  7\nkiosk  fresh       10');
    expect(printed(true, rows)).toBe(`shop   ${ESCAPE}[31mno session${ESCAPE}[39m  7\nkiosk  fresh       10`);
  });

  it.each([
    ['an escape sequence', `a${ESCAPE}[2Jb`, 'a\uFFFD[2Jb'],
    ['one that begins with a single character', 'a\u009b2Jb', 'a\uFFFD2Jb'],
    ['a carriage return', 'a\rb', 'a\uFFFDb'],
    ['another direction of writing', 'a\u202eb', 'a\uFFFDb'],
    ['line feeds, tabs and letters of any language', 'a\n\tїжак', 'a\n\tїжак'],
  ])('moves nothing and hides nothing, whoever wrote it: %s', (_what, text, shown) => {
    const said: string[] = [];
    const say = (one: string): void => void said.push(one);
    const terminal = cleanTerminal({ out: say, err: say, progress: say, hasColours: true });
    terminal.out(text);
    terminal.err(text);
    terminal.progress?.(text);
    expect([...said, printed(true, [text])]).toEqual([shown, shown, shown, shown]);
  });
});
