import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conditionColours } from '#libs/causes';
import { merchantConditions } from '#libs/session';
import { readLinkedPages, readPageFiles, readRunbooks } from './page-files.js';

const files = readPageFiles();
const text = files.map(({ content }) => content.toString()).join('\n');

describe("the page's files", () => {
  it('are all that the browser needs, and no test or setting beside them', () => {
    const names = readdirSync(join(import.meta.dirname, 'page'));
    const expected = names.filter((name) => !/\.(ts|json)$/.test(name));
    expect(files.map(({ name }) => name)).toEqual(expected);
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['index.html', 'status.css', 'main.js']));
  });

  it('refer to each other and to nothing outside', () => {
    const named = [...text.matchAll(/(?:href|src)="(?!#)([^"]+)"|^import [^;]*from '([^']+)'/gm)].map(
      ([, link, module]) => link ?? module,
    );
    const served = new Set([
      ...files.flatMap(({ name }) => [`status/${name}`, `./${name}`]),
      'status.json',
      'readyz',
      'livez',
      'metrics',
      'runbooks/',
    ]);
    expect(named.filter((name) => name === undefined || !served.has(name))).toEqual([]);
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
  });

  it('have nothing inline that the content security policy would refuse, and never make markup of text', () => {
    expect(text).not.toMatch(/<style|<script(?![^>]*src=)|\sstyle="|\son[a-z]+="/);
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });

  it('keep nothing in the browser', () => {
    expect(text).not.toMatch(/localStorage|sessionStorage|indexedDB|document\.cookie|\bcaches\b|serviceWorker/);
  });
});

describe('the runbooks', () => {
  it('name no page that is not served beside them', () => {
    const served = readLinkedPages().map(({ name }) => name);
    const named = readRunbooks().flatMap(({ content }) => [...content.toString().matchAll(/\]\(\.\.\/([^)#]+)/g)]);
    expect(named.length).toBeGreaterThan(0);
    expect(named.map(([, name = '']) => name).filter((name) => !served.some((one) => one === name))).toEqual([]);
  });

  it('and the pages that they name are among the files of which programs and an image are built', () => {
    const ofRoot = (name: string): string => readFileSync(join(import.meta.dirname, '../../..', name), 'utf8');
    const names = readLinkedPages().map(({ name }) => name);
    const kept = ['runbooks', ...names].map((name) => `!docs/${name}`);
    expect(ofRoot('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['docs/*', ...kept]));
    expect(ofRoot('nest-cli.json')).toContain(`docs/{${names.map((name) => name.replace(/\.md$/, '')).join()}}.md"`);
  });
});

/**
 * The page's files are checked as a browser program, so they are imported here by a name that the compiler does not
 * follow.
 */
const PAGE: string = './page/condition.js';

/** The page's name for each colour: a condition that has it. */
const tones = { red: 'unavailable', yellow: 'failing', green: 'fresh' } as const;

describe('the conditions of a merchant', () => {
  it('are those of the domain on the page too, in the same order', async () => {
    const { conditions } = (await import(PAGE)) as { readonly conditions: readonly string[] };
    expect(conditions).toEqual(merchantConditions);
  });

  it.each(merchantConditions)('have a shape and a colour beside them on the page: %s', (condition) => {
    const styles = readFileSync(new URL('page/status.css', import.meta.url), 'utf8');
    const tone = `--tone: var\\(--${tones[conditionColours[condition]]}\\);\\s+--shape: '.';`;
    expect(styles).toMatch(new RegExp(`^\\[data-condition='${condition}'\\][^}]* ${tone}`, 'm'));
  });
});
