import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

describe('the guide to a merchant SDK', () => {
  const blocks = [...read('docs/guides/merchant-sdk.md').matchAll(/```[jt]s\n(\/\/ (\S+)\n[^]*?)```/g)];

  it.each(blocks.map(([, code, file]) => [file, code]))('shows %s as it is to be copied', (file, code) => {
    expect(read(`docs/examples/merchant-sdk/${file}`)).toBe(code);
  });

  it('shows what is pasted, for those who import and those who require, and a program that uses it', () => {
    expect(blocks.map(([, , file]) => file)).toEqual(['brokered-sdk.ts', 'brokered-sdk.cjs', 'sdk-refund.ts']);
  });
});

describe('the guide to moving services', () => {
  const page = read('docs/guides/moving.md');

  it('names metrics that there are', () => {
    const named = [...page.matchAll(/`(session_(?:broker|egress)_[a-z_]+)/g)].map(([, name = '']) => name);
    expect(named).not.toEqual([]);
    const known = read('docs/observability.md');
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it.each(['README.md', 'docs/which-way.md', 'docs/getting-started.md', 'docs/egress.md'])(
    'is linked from %s, which says that services may choose, or that others have to stop',
    (file) => {
      expect(read(file).replace(/\s+/g, ' ')).toMatch(/\((?:docs\/)?guides\/moving\.md\)/);
    },
  );
});

describe('getting started', () => {
  const page = read('docs/getting-started.md');

  it.each([
    ['js', 'session.mjs'],
    ['yaml', 'broker.yaml'],
  ])('shows what is to be copied as it is: %s', (language, file) => {
    const [, block] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page) ?? [];
    expect(block).toBe(read(`docs/examples/${file}`));
  });
});
