import type { Test } from './http-request.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const EVENTS = '/v1/merchants/shop/session/events';
const HANDOVERS = '/v1/merchants/shop/session/handovers';

/** Everything that a stream sends until `isEnough`, as text. */
async function streamed(response: Response, isEnough: (text: string) => boolean): Promise<string> {
  if (response.body === null) throw new Error('the answer has no body');
  let text = '';
  for await (const chunk of response.body) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (isEnough(text)) return text;
  }
  return text;
}

const answer = (broker: RunningBroker, body: object, token: string = TOKENS.payments): Test =>
  broker.as(token).post(HANDOVERS).send(body);
const sessionsIn = (text: string): number => text.split('event: session').length - 1;

describe('the events of a hand-over', () => {
  let broker: RunningBroker | undefined;

  afterEach(async () => {
    await broker?.close();
    broker = undefined;
  });

  it('reach those who take part before the next session, and nobody else; the answer ends the wait', async () => {
    const running = (broker = await RunningBroker.start({
      merchant: { lifetimeMs: 4_000, supersedes: true },
      timeout: '300ms',
    }));
    const [participant, other] = [await running.get(`${EVENTS}?handover=true`), await running.get(EVENTS)];
    const isTold = (text: string): boolean => /event: handover\ndata: [^\n]*\n\n/.test(text);
    if (participant.body === null) throw new Error('the answer has no body');
    const reading = participant.body.getReader();
    let text = '';
    while (!isTold(text)) text += Buffer.from((await reading.read()).value ?? []).toString();
    const [, data = '{}'] = /event: handover\ndata: ([^\n]*)/.exec(text) ?? [];
    const notice = JSON.parse(data) as Readonly<Record<string, unknown>>;
    expect(notice).toEqual({
      merchant: 'shop',
      generation: expect.any(Number),
      holdForMs: expect.any(Number),
      at: expect.any(String),
      participant: expect.any(String),
    });
    expect(sessionsIn(text)).toBe(1);
    const { generation, participant: me } = notice;
    await answer(running, { generation, participant: me }).expect(204).expect('cache-control', 'no-store');
    while (sessionsIn(text) < 2) text += Buffer.from((await reading.read()).value ?? []).toString();
    expect(text).toContain(`id: ${String(generation)}\n`);
    await reading.cancel();
    expect(await streamed(other, (all) => sessionsIn(all) === 2)).not.toContain('handover');
    const awaited = running.lines.filter((line) => line.includes('"handover_awaited"'));
    expect(awaited.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual(['ready']);
  });

  it('accept an answer that belongs to no hand-over, and refuse what is not an answer', async () => {
    const running = (broker = await RunningBroker.start());
    await answer(running, { generation: 7, participant: 'somebody' }).expect(204);
    await answer(running, { generation: 0, participant: 'somebody' }).expect(400);
    await answer(running, { generation: 7, participant: '<script>' }).expect(400);
    await answer(running, { generation: 7 }).expect(400);
    await answer(running, { generation: 7, participant: 'somebody', more: 1 }).expect(400);
    await answer(running, { generation: 7, participant: 'somebody' }, TOKENS.reporting).expect(403);
  });
});
