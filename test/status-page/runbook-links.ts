import { readPage } from '../docs/markdown-page.js';

const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/**
 * Asks for everything that the runbooks of a management port link to, from their index on.
 * @returns the runbooks that were read, and what is not served there or has no such heading
 */
export async function followRunbooks(url: string): Promise<{ read: readonly string[]; broken: readonly string[] }> {
  const index = new URL('runbooks/README.md', url);
  const runbooks = new Map([[index.pathname, index]]);
  const broken: string[] = [];
  // Walking a map goes on to what is added meanwhile.
  for (const from of runbooks.values()) {
    const { targets } = readPage((await textOf(from)) ?? '');
    for (const written of targets.filter((target) => !ELSEWHERE.test(target))) {
      const target = new URL(written, from);
      const isRunbook = target.pathname.startsWith('/runbooks/');
      if (isRunbook) runbooks.set(target.pathname, target);
      if (!(await isThere(target))) broken.push(`${from.pathname}: ${written}`);
    }
  }
  return { read: [...runbooks.keys()], broken };
}

async function isThere(target: URL): Promise<boolean> {
  const text = await textOf(target);
  if (text === undefined) return false;
  return target.hash === '' || readPage(text).anchors.has(decodeURIComponent(target.hash.slice(1)));
}

async function textOf(url: URL): Promise<string | undefined> {
  const response = await fetch(url);
  return response.ok ? response.text() : undefined;
}
