import { generateClientKey } from '#libs/jwe';
import { endedAfterEach, eventually } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const REFUSAL = { kind: 'error', status: 400, msgCode: 'b_merchant_not_found', operation: 'authorize' };

interface Told {
  readonly cause?: string;
  readonly runbook?: string;
}

interface Page {
  readonly cause?: { readonly text: string; readonly remedy: string; readonly runbook: string };
}

type Listed<Member> = { readonly merchants: readonly (Member & { readonly id: string })[] };
const shop = <Member>({ merchants }: Listed<Member>): Member | undefined => merchants.find(({ id }) => id === 'shop');
const told = (cause: string | undefined, runbook: string | undefined): Told => ({
  ...(cause === undefined ? {} : { cause }),
  ...(runbook === undefined ? {} : { runbook }),
});

/** What the list, the status page and the answers to a requested renewal and a read say about the failing merchant. */
async function toldOf(broker: RunningBroker): Promise<readonly Told[]> {
  const list = (await (await broker.get('/v1/merchants', {}, TOKENS.payments)).json()) as Listed<Told>;
  const page = (await (await fetch(`${broker.managementUrl}/status.json`)).json()) as Listed<Page>;
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
    const broker = await start({ faults: [REFUSAL] });
    await expectTold(broker, {
      cause: 'Payments fail: the bank refuses: b_merchant_not_found',
      runbook: 'access-refused',
    });
  });

  it('is told in the same words everywhere: that the bank has another key than ours, and on the page which is ours', async () => {
    const { publicJwk } = await generateClientKey();
    const broker = await start({ merchant: { publicJwk } });
    await expectTold(broker, {
      cause: "Payments fail: the bank's new session opens with none of our keys",
      runbook: 'access-refused',
    });
    const page = (await (await fetch(`${broker.managementUrl}/status.json`)).json()) as Listed<Page>;
    expect(shop(page)?.cause?.remedy).toContain(`thumbprint is ${broker.thumbprint}; `);
  });
});
