import type { Fault } from './fault.js';

/** One use of a client key by a merchant: the key is a file name before loading, a thumbprint after. */
export interface KeyUse {
  readonly key: string;
  readonly environment: 'production' | 'test';
  readonly path: string;
}

/**
 * A key of a production merchant must not be a test merchant's too: the test-only helper requests send the private key
 * away (interface description, "Test-only helper requests").
 */
export function keysSharedWithTest(uses: readonly KeyUse[]): Fault[] {
  const production = new Map<string, string>();
  for (const use of uses) if (use.environment === 'production') production.set(use.key, use.path);
  return uses.flatMap((use) => {
    const shared = use.environment === 'test' ? production.get(use.key) : undefined;
    return shared === undefined
      ? []
      : [{ path: use.path, problem: `is also a production key (${shared}); a test merchant needs a key of its own` }];
  });
}
