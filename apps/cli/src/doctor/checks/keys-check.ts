import type { MerchantConfiguration } from '#libs/configuration';
import { type Check, fact, type Finding, looked, some, warning } from '../check.js';

/** The client keys by thumbprint. Loading the configuration has already shown that each is on P-384. */
export function keysCheck(merchants: readonly Pick<MerchantConfiguration, 'id' | 'clientKeys'>[]): Check {
  return {
    name: 'keys',
    needs: ['configuration'],
    limitMs: 5_000,
    run: () => {
      const keys = merchants.map(({ id, clientKeys }) => ({
        merchant: id,
        thumbprints: clientKeys.map(({ thumbprint }) => thumbprint),
      }));
      const newest = keys.map(({ merchant, thumbprints }) => `${merchant} ${thumbprints[0]}`);
      return Promise.resolve(
        looked([fact(`all on P-384; newest of ${some(newest)}`), ...repeated(keys), ...sharedBetween(keys)], { keys }),
      );
    },
  };
}

interface Keys {
  readonly merchant: string;
  readonly thumbprints: readonly string[];
}

function repeated(keys: readonly Keys[]): readonly Finding[] {
  return keys.flatMap(({ merchant, thumbprints }) =>
    new Set(thumbprints).size < thumbprints.length
      ? [warning(`${merchant} has the same key in two files`, 'remove one of the files')]
      : [],
  );
}

function sharedBetween(keys: readonly Keys[]): readonly Finding[] {
  const owners = new Map<string, Set<string>>();
  for (const { merchant, thumbprints } of keys) {
    for (const each of thumbprints) owners.set(each, (owners.get(each) ?? new Set()).add(merchant));
  }
  return [...owners].flatMap(([thumbprint, merchants]) =>
    merchants.size > 1
      ? [
          warning(
            `the key ${thumbprint} is that of ${some([...merchants])}`,
            'make a key for each merchant: then one that leaks affects one merchant, not several',
          ),
        ]
      : [],
  );
}
