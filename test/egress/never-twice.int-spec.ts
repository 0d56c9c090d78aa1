import { randomUUID } from 'node:crypto';
import { endedAfterEach } from '#libs/testing';
import { orderRequest, purchaseRequest } from '../sandbox/order-request.js';
import { BY_REQUEST, CREATE_PURCHASE } from '../sandbox/payment-desk.js';
import { type Answer, type Caller, type Members, type Route, ROUTES } from './callers.js';
import { EgressStage } from './egress-stage.js';
import type { RunningEgress } from './running-egress.js';

describe('a payment through the egress', () => {
  let stage: EgressStage;
  let egress: RunningEgress;
  let encryptedCardNumber: string;
  const started = endedAfterEach();

  beforeAll(async () => {
    // A doubled payment shows up in the ledger as such, instead of the second one being refused.
    stage = await EgressStage.start({ settings: { duplicates: 'accepted' } });
    egress = await stage.egress();
    encryptedCardNumber = await stage.sealedCard();
    for (const caller of egress.callers()) await caller.pay('clear', orderRequest());
  });
  afterAll(() => stage.close());

  const pay = (caller: Caller, route: Route, merchantRequestId: string): Promise<Answer> =>
    route === 'clear'
      ? caller.pay('clear', orderRequest({ merchantRequestId }))
      : caller.pay('sealed', purchaseRequest(encryptedCardNumber, { merchantRequestId }), { path: CREATE_PURCHASE });
  const entryOf = async (merchantRequestId: string): Promise<Members> => {
    const { payments } = await stage.ledger(`?merchantRequestId=${merchantRequestId}`);
    return payments[0] ?? { requests: 0, accepted: 0 };
  };

  it('is repeated after a dead session, with the same merchantRequestId, and is carried out once', async () => {
    await stage.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exists');
    const ids = Array.from({ length: 40 }, () => randomUUID());
    const callers = egress.callers();
    const payments = ids.map((id, index) =>
      pay(callers[index % 2] ?? egress.plain(), ROUTES[(index >> 1) % 2] ?? 'clear', id),
    );
    const answers = await Promise.all(payments);
    expect(answers.filter(({ status, text }) => status !== 200 || !/"(hppOrderId|operationId)"/.test(text))).toEqual(
      [],
    );
    const entries = await Promise.all(ids.map(entryOf));
    expect(entries.map(({ accepted }) => accepted)).toEqual(ids.map(() => 1));
    expect(Math.max(...entries.map(({ requests }) => Number(requests)))).toBeLessThanOrEqual(2);
    expect(await stage.createCalls()).toBe(2);
  });

  it('is known by a lookup, and only repeated under its own id, when its answer is lost', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const own = started.add(await EgressStage.start(), (it) => it.close());
    const caller = (await own.egress()).plain();
    const sealed = await own.sealedCard();
    const send = (id: string): Promise<Answer> => {
      const members = purchaseRequest(sealed, { merchantRequestId: id, txnType: 'NONCVV' });
      return caller.pay('sealed', members, { path: CREATE_PURCHASE });
    };
    const lookUp = async (merchantRequestId: string): Promise<unknown> => {
      const { code, text } = await caller.pay('sealed', { merchantRequestId }, { path: BY_REQUEST });
      return code ?? (JSON.parse(text) as Members)['status'];
    };
    // Of every two, one is lost before the bank carries it out, and one after.
    for (let pair = 0; pair < 50; pair += 1)
      for (const at of ['arrival', 'answer'])
        await own.control('POST', '/faults', { kind: 'drop', at, operation: 'create-purchase', times: 1 });
    for (const id of ids) expect(await send(id)).toMatchObject({ status: 502, code: 'answer_lost' });
    const found = await Promise.all(ids.map(lookUp));
    const entries = (await own.ledger('?limit=100')).payments;
    const outcomes = new Map(entries.map(({ merchantRequestId, outcome }) => [merchantRequestId, outcome]));
    expect(found).toEqual(ids.map((id) => (outcomes.get(id) === 'accepted' ? 'SUCCESS' : 'b_operation_not_found')));
    expect(found.filter((status) => status === 'SUCCESS')).toHaveLength(50);
    const repeated = await Promise.all(ids.map(send));
    expect(repeated.filter(({ code }) => code === 'b_duplicate_field_value')).toHaveLength(50);
    expect(new Set(await Promise.all(ids.map(lookUp)))).toEqual(new Set(['SUCCESS']));
    expect((await own.ledger()).totals).toMatchObject({ payments: 100, accepted: 100, repeated: 100, doubled: 0 });
  });
});
