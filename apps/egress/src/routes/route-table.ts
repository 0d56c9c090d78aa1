import type { EgressRoute } from '#libs/configuration';

interface Pattern {
  readonly route: EgressRoute;
  readonly matches: (path: string) => boolean;
}

/** The only paths that lead to the gateway. The first match counts; without one, the request goes nowhere. */
export class RouteTable {
  readonly #patterns: readonly Pattern[];

  constructor(routes: readonly EgressRoute[]) {
    this.#patterns = routes.map((route) => ({ route, matches: matcherOf(route.path) }));
  }

  find(path: string): EgressRoute | undefined {
    return this.#patterns.find(({ matches }) => matches(path))?.route;
  }
}

/** `*` is one segment of a path; `**` at the end is one or more. */
function matcherOf(pattern: string): (path: string) => boolean {
  const parts = pattern.split('/').map((part) => {
    if (part === '**') return '.+';
    return part === '*' ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  const expression = new RegExp(`^${parts.join('/')}$`);
  return (path) => expression.test(path);
}
