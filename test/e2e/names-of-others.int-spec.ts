import { request, type Test } from './http-request.js';
import { endedAfterAll } from '#libs/testing';
import { problem, RunningBroker } from './running-broker.js';

const REBOUND = 'rebound.example';
/** What a browser adds when a page calls its own origin: to the browser, a rebound name is just that. */
const AS_OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const SESSION = '/v1/merchants/shop/session';

describe('a name of somebody else that leads to a broker which asks for no credential', () => {
  let open: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    const setUp = { authDisabled: true, http: 'hosts: [broker.shop.example]' };
    open = started.add(await RunningBroker.start(setUp), (it) => it.close());
    await request(open.url).get(SESSION).set('prefer', 'wait=5').expect(200);
  });

  it.each([
    ['the API', 'url', SESSION],
    ['the list of merchants', 'url', '/v1/merchants'],
    ['its pages', 'url', '/docs'],
    ['a path that is not there', 'url', '/elsewhere'],
    ['liveness', 'managementUrl', '/livez'],
    ['readiness', 'managementUrl', '/readyz'],
    ['metrics', 'managementUrl', '/metrics'],
    ['the status page', 'managementUrl', '/'],
    ['what the status page shows', 'managementUrl', '/status.json'],
    ['its events', 'managementUrl', '/status/events'],
  ] as const)('reaches nothing of %s, whatever the page claims to be', async (_what, place, path) => {
    const ask = (): Test => request(open[place]).get(path).set('host', REBOUND);
    await ask()
      .expect(421)
      .expect('content-type', /^application\/problem\+json/)
      .expect(problem('misdirected_request'));
    await ask().set(AS_OWN_PAGE).expect(421).expect(problem('misdirected_request'));
  });

  it('does nothing either', async () => {
    const generation = await request(open.url)
      .get(SESSION)
      .then(({ body }) => (body as { generation: number }).generation);
    const reject = request(open.url).post(`${SESSION}/rejections`).set('host', REBOUND).set(AS_OWN_PAGE);
    await reject.send({ generation }).expect(421);
    await request(open.url).get(SESSION).set('if-none-match', `"${generation}"`).expect(304);
  });

  it.each(['localhost', '127.0.0.1:8080', '[::1]:8080', '10.1.2.3', 'broker.shop.example:443'])(
    'is not %s',
    async (host) => {
      await request(open.url).get(SESSION).set('host', host).expect(200);
    },
  );

  it('is not what the file says once it was changed', async () => {
    await request(open.url).get(SESSION).set('host', 'other.shop.example').expect(421);
    await open.edit(['hosts: [broker.shop.example]', 'hosts: [broker.shop.example, other.shop.example]']);
    await open.reload();
    await request(open.url).get(SESSION).set('host', 'other.shop.example').expect(200);
  });
});

describe('a broker that asks for a credential', () => {
  const started = endedAfterAll();

  it('is asked by any name: that of its service, its ingress, or its mesh', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    const ask = (): Test => broker.as('token-of-checkout').get(SESSION).set('prefer', 'wait=5');
    await ask().set('host', 'broker.payments.svc').expect(200);
    await request(broker.url).get(SESSION).set('host', REBOUND).expect(401);
    await request(broker.managementUrl).get('/metrics').set('host', REBOUND).expect(421);
  });
});
