import type { FastifyInstance } from 'fastify';
import { toRfc3339, VirtualClock, type Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { readInput, shape, wholeNumber } from '../input/read-input.js';
import type { Notifications } from '../notifications/notifications.js';
import type { Waiting } from '../wire/waiting.js';

const advance = shape({ byMs: wholeNumber(1, 30 * 86_400_000) });
/** Shorter than any wait before a repetition, so that each answer is known before the next attempt is due. */
const STEP_MS = 1_000;

interface TimeParts {
  readonly clock: Clock;
  readonly waiting: Waiting;
  readonly notifications: Notifications;
}

/** The sandbox's clock: real time, or virtual time that passes only here. */
export function timeRoutes(control: FastifyInstance, parts: TimeParts): void {
  const { clock } = parts;
  const told = (): object => ({ now: toRfc3339(clock.now()), virtual: clock instanceof VirtualClock });
  control.get('/time', told);
  control.post('/time/advance', async ({ body }) => {
    const { byMs } = readInput(advance, body);
    if (!(clock instanceof VirtualClock)) {
      throw new BrokerError('invalid_request', {
        publicDetail: 'the time is not virtual; start with SANDBOX_CLOCK=virtual',
      });
    }
    await pass(byMs, clock, parts);
    return told();
  });
}

/** In small steps while anything is waiting for its time, because the answers to notifications take real time. */
async function pass(byMs: number, clock: VirtualClock, { waiting, notifications }: TimeParts): Promise<void> {
  await notifications.idle();
  for (let leftMs = byMs; leftMs > 0;) {
    const stepMs = waiting.pending > 0 ? Math.min(STEP_MS, leftMs) : leftMs;
    await clock.advance(stepMs);
    await notifications.idle();
    leftMs -= stepMs;
  }
}
