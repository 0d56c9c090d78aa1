import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Session } from '#libs/session';
import { aSession } from '#libs/testing';
import { openSession, sealSession } from '../../../libs/store/src/redis/redis-codec.js';
import { damaged } from '../damaged.js';
import { demand, pureTarget } from '../fuzz-target.js';

const moment = fc.integer({ min: 0, max: 4_102_444_800_000 }).map(instantFromEpochMs);
const session: fc.Arbitrary<Session> = fc
  .record(
    {
      merchant: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
      generation: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      authToken: fc.uuid(),
      deviceId: fc.uuid(),
      refreshToken: fc.uuid(),
      createdAt: moment,
      expiresAt: moment,
      renewAt: moment,
      mustRenewAt: moment,
      deathsBefore: fc.nat({ max: 9 }),
    },
    { requiredKeys: ['merchant', 'generation'] },
  )
  .map((parts) => aSession(parts));

interface Case {
  readonly session: Session;
  /** Possibly of another merchant or generation. */
  readonly binding: { readonly merchant: string; readonly generation: number };
  readonly damage: Buffer;
}

/** How many records there are to be damaged. */
const RECORDS = 16;

/** What is in the store, which others may write to. */
export const records = pureTarget({ name: 'records', runsPerRound: 3_000 }, async () => {
  const keys = await Promise.all([0, 1].map(async () => importClientKey((await generateClientKey()).privateJwk)));
  const keysOf = (): readonly ClientKey[] => keys;
  const stored = await Promise.all(
    fc
      .sample(session, { seed: 1, numRuns: RECORDS })
      .map(async (one) => ({ one, text: await sealSession(one, keysOf) })),
  );
  const foreign: fc.Arbitrary<Case> = fc
    .tuple(fc.nat({ max: stored.length - 1 }), fc.nat({ max: stored.length - 1 }))
    .chain(([at, other]) => {
      const { one, text } = stored[at] ?? { one: aSession(), text: '' };
      const { merchant, generation } = stored[other]?.one ?? one;
      return damaged(fc.constant(text)).map((damage) => ({ session: one, binding: { merchant, generation }, damage }));
    });
  const altered = async ({ session: one, binding, damage }: Case): Promise<void> => {
    const text = damage.toString('latin1');
    const opened = await openSession(text, binding, keysOf);
    const isWhole = stored.some((each) => each.text === text && each.one === one);
    const isItsOwn = binding.merchant === one.merchant && binding.generation === one.generation;
    demand(
      isDeepStrictEqual(opened, isWhole && isItsOwn ? one : undefined),
      'a record opens whole and as its own only',
    );
  };
  const kept = async (one: Session): Promise<void> => {
    const opened = await openSession(await sealSession(one, keysOf), one, keysOf);
    demand(isDeepStrictEqual(opened, one), 'a session comes back as it was stored');
  };
  const either = fc.oneof(
    { weight: 5, arbitrary: foreign.map((one) => ({ altered: one })) },
    { weight: 1, arbitrary: session.map((one) => ({ kept: one })) },
  );
  return fc.asyncProperty(either, (drawn) => ('altered' in drawn ? altered(drawn.altered) : kept(drawn.kept)));
});
