import { generateClientKey } from '#libs/jwe';
import { endedAfterEach, eventually, freePort } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

interface Told {
  readonly cause?: string;
  readonly runbook?: string;
}

type Listed<Member> = { readonly merchants: readonly (Member & { readonly id: string })[] };
const shop = <Member>({ merchants }: Listed<Member>): Member | undefined => merchants.find(({ id }) => id === 'shop');
const told = (cause: string | undefined, runbook: string | undefined): Told => ({
  ...(cause === undefined ? {} : { cause }),
  ...(runbook === undefined ? {} : { runbook }),
});

/** What the list, the status page, the answer to a wished renewal and that to a read say of the merchant that fails. */
async function toldOf(broker: RunningBroker): Promise<readonly Told[]> {
  const list = (await (await broker.get('/v1/merchants', {}, TOKENS.payments)).json()) as Listed<Told>;
  const page = (await (await fetch(`${broker.managementUrl}/status.json`)).json()) as Listed<{
    cause?: { text: string; runbook: string };
  }>;
  const { body } = await broker.as(TOKENS.oncall).post('/v1/merchants/shop/session/renewal');
  const { body: read } = await broker.as(TOKENS.payments).get('/v1/merchants/shop/session').expect(503);
  const [listed, shown] = [shop(list), shop(page)?.cause];
  return [
    told(listed?.cause, listed?.runbook),
    told(shown?.text, shown?.runbook),
    told((body as Told).cause, listed?.runbook),
    told((read as Told).cause, listed?.runbook),
  ];
}

describe('the cause of a merchant without a session', () => {
  const started = endedAfterEach();
  const start = async (setUp: Parameters<typeof RunningBroker.start>[0]): Promise<RunningBroker> =>
    started.add(await RunningBroker.start(setUp), (it) => it.close());

  async function expectTold(broker: RunningBroker, wanted: Told): Promise<void> {
    await eventually(
      async () => JSON.stringify((await toldOf(broker)).slice(0, 2)) === JSON.stringify([wanted, wanted]),
    );
    expect(await toldOf(broker)).toEqual([wanted, wanted, wanted, wanted]);
  }

  it('is told in the same words everywhere: what the bank says', async () => {
    const refusal = { kind: 'error', status: 400, msgCode: 'b_merchant_not_found', operation: 'authorize' };
    const broker = await start({ faults: [refusal] });
    await expectTold(broker, { cause: 'the bank refuses: b_merchant_not_found', runbook: 'access-refused' });
  });

  it('is told in the same words everywhere: that nothing listens', async () => {
    const refusal = { kind: 'error', status: 400, msgCode: 'b_merchant_not_found', operation: 'authorize' };
    const broker = await start({ faults: [refusal] });
    const port = await freePort();
    await broker.edit([broker.sandboxUrl, `http://127.0.0.1:${port}`]);
    await broker.reload();
    await expectTold(broker, {
      cause: `nothing listens there (ECONNREFUSED to 127.0.0.1:${port})`,
      runbook: 'renewals-failing',
    });
  });

  it('is told in the same words everywhere: that the bank has another key than ours, with the thumbprint of ours', async () => {
    const { publicJwk } = await generateClientKey();
    const broker = await start({ merchant: { publicJwk } });
    await expectTold(broker, {
      cause: `the answer is sealed to another key than ours (thumbprint ${broker.thumbprint}), or damaged`,
      runbook: 'access-refused',
    });
  });
});
