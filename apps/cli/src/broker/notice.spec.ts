import { FakeClock } from '#libs/testing';
import { noticePrinter } from './notice.js';

describe('a line of a watch', () => {
  const notice = {
    event: 'condition',
    about: 'shop',
    words: 'failing: the bank refuses',
    state: { word: 'failing', tone: 'yellow' },
    facts: { merchant: 'shop' },
  } as const;

  function printed(options: { readonly json?: true }, hasColours: boolean): string {
    const lines: string[] = [];
    const terminal = { out: (text: string) => void lines.push(text), err: () => undefined, hasColours };
    noticePrinter(options, { clock: new FakeClock(), terminal })(notice);
    return lines.join('\n');
  }

  it('has the state in its colour where there may be colours, and for programs never', () => {
    expect(printed({}, true)).toContain('Z  shop  \u001b[33mfailing\u001b[39m: the bank refuses');
    expect(printed({}, false)).toMatch(/Z {2}shop {2}failing: the bank refuses$/);
    expect(JSON.parse(printed({ json: true }, true))).toEqual({
      ...{ event: 'condition', merchant: 'shop' },
      at: expect.any(String),
    });
  });
});
