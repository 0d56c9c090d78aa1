import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { type RecordedFailure, type ReplicaSignal, sharedFailureKinds } from '#libs/session';
import { decodeAnnouncement, decodeFailure } from '../../../libs/store/src/redis/redis-codec.js';
import { anyOf, damaged } from '../damaged.js';
import { demand, pureTarget } from '../fuzz-target.js';

const NOW_MS = Date.UTC(2026, 0, 1);

const merchant = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const generation = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const plain = { noNullPrototype: true } as const;
const subject = { kind: fc.constant('handover' as const), merchant, generation };
const signal: fc.Arbitrary<ReplicaSignal> = fc.oneof(
  fc.record(
    { ...subject, step: fc.constant('begins' as const), holdForMs: fc.integer({ min: 1, max: 10_000 }) },
    plain,
  ),
  fc.record({ ...subject, step: fc.constant('holding' as const), participants: fc.nat({ max: 100_000 }) }, plain),
  fc.record({ ...subject, step: fc.constant('ready' as const), participant: fc.uuid() }, plain),
  fc.record({ ...subject, step: fc.constant('ended' as const) }, plain),
);
const failure: fc.Arbitrary<RecordedFailure> = fc.record(
  {
    kind: fc.constantFrom(...sharedFailureKinds),
    at: fc.integer({ min: NOW_MS - 86_400_000, max: NOW_MS + 86_400_000 }).map(instantFromEpochMs),
    msgCode: fc.stringMatching(/^[A-Za-z0-9_.-]{1,64}$/),
  },
  { requiredKeys: ['kind', 'at'], noNullPrototype: true },
);

interface Message {
  readonly text: string;
  /** What it must be read as, if it is one of ours and whole. */
  readonly means?: unknown;
}

const written: fc.Arbitrary<Message> = fc.oneof(
  signal.map((one) => ({ text: JSON.stringify(one), means: one })),
  fc
    .record(
      { kind: fc.constant('changed' as const), merchant, generation },
      { requiredKeys: ['kind', 'merchant'], ...plain },
    )
    .map((one) => ({
      text: JSON.stringify(one),
      means: one,
    })),
);

const nearly = fc
  .record(
    {
      kind: anyOf('handover', 'changed', 'gap'),
      merchant: anyOf('shop', '', 'x'.repeat(200), 'x'.repeat(201), '__proto__'),
      generation: anyOf(1, 0, -1, 1.5, 2 ** 53, '1'),
      step: anyOf('begins', 'holding', 'ready', 'ended'),
      holdForMs: anyOf(1, 10_000, 10_001, 0),
      participants: anyOf(0, 100_000, 100_001),
      participant: anyOf('p-1', '', 'x'.repeat(65)),
      at: anyOf(NOW_MS, 8.64e15, -1, NOW_MS + 1e14),
      msgCode: anyOf('E_1', '<b>'),
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.stringify(fields));

const wild: fc.Arbitrary<Message> = damaged(
  fc.oneof(
    written.map(({ text }) => text),
    nearly,
    failure.map((one) => JSON.stringify(one)),
  ),
).map((octets) => ({ text: octets.toString('utf8') }));

function checkRead(text: string): void {
  const read = decodeAnnouncement(text);
  demand(read?.kind !== 'gap', 'no message tells of a gap');
  if (read !== undefined && read.kind !== 'gap') {
    demand(read.merchant !== '' && read.merchant.length <= 200, 'a merchant of an announcement is within its bound');
    demand(['changed', 'handover'].includes(read.kind), 'an announcement is of a known kind');
    // What this replica would itself say of it must read the same.
    demand(isDeepStrictEqual(decodeAnnouncement(JSON.stringify(read)), read), 'what was read reads the same again');
  }
  const recorded = decodeFailure(text, NOW_MS);
  if (recorded === undefined) return;
  demand(sharedFailureKinds.includes(recorded.kind), 'a recorded failure is of a known kind');
  const again = decodeFailure(JSON.stringify(recorded), NOW_MS);
  demand(isDeepStrictEqual(again, recorded), 'a failure reads the same again');
}

/** What replicas tell each other, which anyone with access to the channel can send. */
export const announcements = pureTarget({ name: 'announcements', runsPerRound: 8_000 }, () =>
  fc.property(fc.oneof({ weight: 1, arbitrary: written }, { weight: 3, arbitrary: wild }), ({ text, means }) => {
    if (means !== undefined)
      demand(isDeepStrictEqual(decodeAnnouncement(text), means), 'an announcement is read as it was written');
    checkRead(text);
  }),
);
