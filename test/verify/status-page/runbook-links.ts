const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;
const ATTRIBUTE = /\b(href|src|id)="([^"]*)"/g;
const AS_BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/**
 * Requests everything that the runbooks of a management port link to, as a browser does, starting from their index.
 * @returns each page with its text, and what is not served or has no such id
 */
export async function followRunbookPages(url: string): Promise<{ pages: Map<string, string>; broken: string[] }> {
  const pages = new Map<string, string>();
  const links: { from: string; target: URL }[] = [];
  const waiting = [new URL('runbooks/', url)];
  for (const page of waiting) {
    if (pages.has(page.pathname)) continue;
    const response = await fetch(page, { headers: AS_BROWSER });
    const isPage = response.ok && response.headers.get('content-type')?.startsWith('text/html');
    pages.set(page.pathname, isPage ? await response.text() : response.ok ? '' : 'missing');
    for (const written of valuesOf(pages.get(page.pathname) ?? '', /href|src/)) {
      if (ELSEWHERE.test(written)) continue;
      const target = new URL(written, page);
      links.push({ from: page.pathname, target });
      waiting.push(target);
    }
  }
  const isBroken = ({ pathname, hash }: URL): boolean => {
    const text = pages.get(pathname) ?? 'missing';
    return text === 'missing' || (hash !== '' && !valuesOf(text, /id/).includes(decodeURIComponent(hash.slice(1))));
  };
  const broken = links.filter(({ target }) => isBroken(target)).map(({ from, target }) => `${from}: ${target.href}`);
  return { pages, broken };
}

function valuesOf(html: string, name: RegExp): readonly string[] {
  return [...html.matchAll(ATTRIBUTE)].flatMap(([, found = '', value = '']) => (name.test(found) ? [value] : []));
}
