import type { ScheduledTask } from '#libs/clock';
import { eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { ConditionNotice } from './condition-notice.js';
import type { ListedMerchant } from './listed-merchant.js';

const LOOK_MS = 5_000;
const WELL: ListedMerchant = { id: 'shop', state: 'fresh', condition: 'fresh', reason: 'current', renewing: false };

/** Knows how many looks have ended: each ends by asking for the next one. */
class LookClock extends FakeClock {
  looksAskedFor = 0;

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    if (delayMs === LOOK_MS) this.looksAskedFor += 1;
    return super.schedule(delayMs, task);
  }
}

describe('what is told of a merchant that is followed', () => {
  const clock = new LookClock();
  const stop = new AbortController();
  let listed = WELL;
  let told: string[] = [];
  let server: LoopbackServer;
  let other: LoopbackServer;
  let place: URL;
  let notice: ConditionNotice;

  beforeAll(async () => {
    server = await LoopbackServer.http((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ merchants: [listed] }));
    });
  });

  beforeAll(async () => {
    const failing = { ...WELL, condition: 'failing', cause: 'the bank refuses', runbook: 'access-refused' };
    other = await LoopbackServer.http((_request, response) => response.end(JSON.stringify({ merchants: [failing] })));
  });

  beforeEach(() => {
    place = new URL(`http://127.0.0.1:${server.port}`);
    listed = WELL;
    told = [];
    notice = new ConditionNotice({
      broker: {
        urls: [new URL(`http://127.0.0.1:${server.port}`)],
        token: () => Promise.resolve(undefined),
        ca: undefined,
      },
      merchant: 'shop',
      place: () => place,
      clock,
      signal: stop.signal,
      tell: (line) => told.push(line.replace(/^\S+Z {2}shop {2}/, '')),
    });
  });

  afterEach(() => notice.close());

  afterAll(async () => {
    stop.abort();
    await Promise.all([server.close(), other.close()]);
  });

  async function look(next: Partial<ListedMerchant>): Promise<void> {
    listed = { ...WELL, ...next };
    const before = clock.looksAskedFor;
    await clock.advance(LOOK_MS);
    await eventually(() => clock.looksAskedFor > before);
  }

  it('is nothing while it is well, while it is being renewed, and when its session has ended', async () => {
    await look({});
    await look({ condition: 'renewing', renewing: true });
    await look({ condition: 'unavailable', state: 'unavailable', cause: 'nothing listens there', runbook: 'x' });
    expect(told).toEqual([]);
  });

  it('is once that its renewals fail, with the cause and its runbook, and once that they no longer do', async () => {
    const refused = { condition: 'failing', cause: 'the bank refuses', runbook: 'access-refused' };
    await look(refused);
    await look({ condition: 'renewing', renewing: true });
    await look(refused);
    await look({});
    await look({});
    expect(told).toEqual(['failing: the bank refuses (runbook: access-refused)', 'fresh']);
  });

  it('is once what counts down, and again when anything else of it has changed', async () => {
    const spent = (until: string, left: string): Partial<ListedMerchant> => ({
      condition: 'held_back',
      cause: `the create-call budget is spent until ${until} UTC; its session is good for another ${left}`,
      runbook: 'budget-exhausted',
    });
    for (const left of ['2 min', '119 s', '28 s', '23 s']) await look(spent('18:14', left));
    await look(spent('18:28', '18 s'));
    expect(told).toEqual([
      'not renewed: the create-call budget is spent until 18:14 UTC; its session is good for another 2 min (runbook: budget-exhausted)',
      'not renewed: the create-call budget is spent until 18:28 UTC; its session is good for another 18 s (runbook: budget-exhausted)',
    ]);
  });

  it('is asked of the replica that is followed now', async () => {
    place = new URL(`http://127.0.0.1:${other.port}`);
    listed = WELL;
    const before = clock.looksAskedFor;
    await clock.advance(LOOK_MS);
    await eventually(() => clock.looksAskedFor > before);
    expect(told).toEqual(['failing: the bank refuses (runbook: access-refused)']);
  });

  it('is whatever else is wrong while there is a session, in a newer word of the broker, too', async () => {
    await look({ condition: 'held_back', cause: 'the budget is spent', runbook: 'budget-exhausted' });
    await look({ condition: 'taken_away' });
    expect(told).toEqual(['not renewed: the budget is spent (runbook: budget-exhausted)', 'taken away']);
  });
});
