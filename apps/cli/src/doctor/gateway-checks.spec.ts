import { instantFromEpochMs } from '#libs/clock';
import type { PlainAnswer } from '#libs/gateway';
import { GatewayFailure, TLS_SPOKEN } from '#libs/session';
import { FakeClock } from '#libs/testing';
import type { Finding } from './check.js';
import { gatewayChecks } from './gateway-checks.js';
import { type GatewayTools, GatewayVisit, visitsOf } from './gateway-visit.js';
import { type CheckResult, runChecks } from './run-checks.js';

const clock = new FakeClock();
/** Nothing is connected. */
const TOOLS = { clock } as unknown as GatewayTools;
const CREATE = 'http://gateway.test/api-gateway/authorize_virtual_device';
const ECHO = new URL('http://echo.test/ip');
type Surroundings = Parameters<typeof gatewayChecks>[1];
type Gateway = GatewayVisit['gateway'];

const gatewayAt = (baseUrl: string, more: Partial<Gateway> = {}): Gateway => ({
  baseUrl: new URL(baseUrl),
  environment: 'test',
  timeoutMs: 1_000,
  tls: { pins: [] },
  ...more,
});

const certificate = (days: number): Awaited<ReturnType<GatewayVisit['presented']>>[number] => ({
  ...{ subject: 'CN=gateway.test', issuer: 'CN=An authority', pin: 'sha256/AAAA' },
  beginsAt: clock.now(),
  endsAt: instantFromEpochMs(clock.now() + (days + 0.5) * 86_400_000),
});

/** A look at a gateway that finds this, or fails like this. */
interface Played {
  readonly gateway?: Gateway;
  readonly creates?: false;
  readonly addresses?: readonly string[] | GatewayFailure;
  readonly connect?: GatewayFailure;
  readonly endsInDays?: number;
  readonly presented?: GatewayFailure;
  readonly shakeHands?: GatewayFailure;
  readonly answer?: Partial<PlainAnswer> | GatewayFailure;
  readonly echoed?: { readonly address: string; readonly version: 4 | 6 } | GatewayFailure;
}

async function played<Found>(found: Found | GatewayFailure): Promise<Found> {
  if (found instanceof GatewayFailure) throw found;
  return found;
}

const PLAIN: PlainAnswer = {
  httpStatus: 405,
  isHtml: false,
  isOurs: false,
  skew: { leastMs: 0, likelyMs: 0, mostMs: 0 },
};

class PlayedVisit extends GatewayVisit {
  readonly #played: Played;

  constructor({ gateway = gatewayAt('http://gateway.test'), ...more }: Played) {
    const creates = more.creates ?? true;
    const way = { gateway, subject: 'it', ...(creates && { createAddress: new URL(CREATE) }) };
    super(way, TOOLS);
    this.#played = more;
  }

  override addresses = (): Promise<readonly string[]> => played(this.#played.addresses ?? ['192.0.2.1']);
  override connect = (): Promise<void> => played(this.#played.connect ?? undefined);
  override presented: GatewayVisit['presented'] = () =>
    played(this.#played.presented ?? [certificate(this.#played.endsInDays ?? 90)]);
  override shakeHands = (): Promise<string> => played(this.#played.shakeHands ?? 'TLSv1.3');
  override answer = async (): Promise<PlainAnswer> => ({ ...PLAIN, ...(await played(this.#played.answer ?? {})) });
  override echoed: GatewayVisit['echoed'] = () => played(this.#played.echoed ?? { address: '203.0.113.7', version: 4 });
}

interface Outcome {
  readonly of: (name: string) => CheckResult;
  /** What is worth a look, or worse. */
  readonly trouble: (name: string) => readonly Finding[];
}

async function look(finds: Played, surroundings: Surroundings = { own: [] }): Promise<Outcome> {
  const context = { clock, signal: new AbortController().signal };
  const results = await runChecks(gatewayChecks(new PlayedVisit(finds), surroundings), context);
  const of = (name: string): CheckResult => {
    const result = results.find(({ check }) => check.name === `gateway.${name}`);
    if (result === undefined) throw new Error(name);
    return result;
  };
  const trouble = (name: string): readonly Finding[] => {
    const { verdict } = of(name);
    return verdict.kind === 'looked' ? verdict.findings.filter(({ level }) => level !== 'fact') : [];
  };
  return { of, trouble };
}

const down = (mark: string, kind: 'transient' | 'refused' = 'transient'): GatewayFailure =>
  new GatewayFailure({ kind, detail: 'x', mark, peer: 'gateway.test:80', wasReached: false });

describe('the way to a gateway', () => {
  it.each<[string, Played, string, readonly string[]]>([
    [
      'a name without an address',
      { addresses: down('ENOTFOUND') },
      'compare the host',
      ['dns', 'tcp', 'tls', 'http', 'clock'],
    ],
    [
      'a port where nothing listens',
      { connect: down('ECONNREFUSED') },
      'see whether the gateway runs there',
      ['tcp', 'tls', 'http', 'clock'],
    ],
    ['a firewall', { connect: down('EHOSTUNREACH') }, 'see whether firewalls', ['tcp', 'tls', 'http', 'clock']],
    ['no answer', { answer: down('ECONNRESET') }, 'see whether baseUrl, and the proxy', ['http', 'clock']],
    ['TLS where none is configured', { answer: down(TLS_SPOKEN) }, 'see scheme and port in baseUrl', ['http', 'clock']],
  ])('ends at %s, and what follows is not run', async (...[, finds, remedy, [first = '', ...rest]]) => {
    const { of, trouble } = await look(finds);
    expect(trouble(first)).toMatchObject([{ level: 'fault', remedy: expect.stringContaining(remedy) as string }]);
    const after = rest.map((name) => of(name).status);
    expect(after).toEqual(rest.map(() => 'not_run'));
  });

  it.each<[string, PlainAnswer['skew'], string, readonly string[]]>([
    ['agrees', { leastMs: -900, likelyMs: 0, mostMs: 900 }, 'passed', []],
    [
      'differs',
      { leastMs: -90_500, likelyMs: -90_000, mostMs: -89_500 },
      'warned',
      ["the gateway's clock is 90000 ms behind ours"],
    ],
    ['is not shown', undefined, 'not_run', []],
  ])('has a clock at its end that %s', async (...[, skew, status, warnings]) => {
    const { of, trouble } = await look({ answer: { skew } as PlainAnswer });
    expect(of('clock').status).toBe(status);
    expect(trouble('clock').map(({ message }) => message)).toEqual(warnings);
  });

  it('is one for all merchants that take it, and named by one of them where several lead to one host', () => {
    const gateways = ['http://a.test', 'http://a.test', 'http://a.test/other', 'http://b.test'].map((url) =>
      gatewayAt(url),
    );
    const merchants = gateways.map((gateway, index) => ({ id: `shop-${index}`, gateway }));
    const subjects = visitsOf(merchants, TOOLS).map(({ subject }) => subject);
    expect(subjects).toEqual(['a.test (as for shop-0)', 'a.test (as for shop-2)', 'b.test']);
  });
});

describe('an address that may be wrong', () => {
  const COMPARE = `compare ${CREATE} with the address that the bank has given`;

  it.each<[string, Partial<PlainAnswer>, string]>([
    ['is not there', { httpStatus: 404 }, '404: perhaps nothing is at this address'],
    [
      'is a web site',
      { httpStatus: 200, isHtml: true },
      'the answer is a page of HTML, as of a web site or a firewall',
    ],
  ])('is a warning that names the whole of it: it %s', async (_what, answer, message) => {
    const remedy = expect.stringContaining(COMPARE) as string;
    expect((await look({ answer })).trouble('http')).toEqual([{ level: 'warning', message, remedy }]);
  });

  it('is nothing of an egress, which calls paths below it, where it is a 404', async () => {
    expect((await look({ creates: false, answer: { httpStatus: 404, isHtml: true } })).trouble('http')).toEqual([]);
  });

  it('is a fault where a broker or an egress answers', async () => {
    expect((await look({ answer: { httpStatus: 401, isOurs: true } })).trouble('http')).toMatchObject([
      {
        ...{ level: 'fault', faultClass: 'invalidInput' },
        message: 'what answers at gateway.baseUrl is a session broker or an egress, and not the gateway',
      },
    ]);
  });

  it.each<[string, Surroundings['own'][number], readonly string[], boolean]>([
    ['its own address', { host: '127.0.0.1', port: 80 }, ['127.0.0.1'], true],
    ['its own name', { host: 'gateway.test', port: 80 }, ['192.0.2.1'], true],
    ['another port', { host: '127.0.0.1', port: 81 }, ['127.0.0.1'], false],
  ])(
    'is a fault where the process itself listens, whether it runs or not: %s',
    async (...[, listener, addresses, isOwn]) => {
      const { trouble } = await look({ addresses }, { own: [listener] });
      const message = expect.stringMatching(/^gateway\.baseUrl leads to the checked process itself/) as string;
      expect(trouble('dns')).toMatchObject(isOwn ? [{ faultClass: 'invalidInput', message }] : []);
    },
  );
});

describe('TLS to a gateway', () => {
  const gateway = gatewayAt('https://gateway.test');
  const LINE =
    /^certificate 1: CN=gateway\.test; issued by CN=An authority; 2026-01-01 to 2026-\d\d-\d\d; pin sha256\/AAAA$/;

  it.each<[string, Played, string, readonly string[]]>([
    ['is trusted', {}, 'passed', []],
    ['ends soon', { endsInDays: 5 }, 'warned', ['certificate 1 ends on 2026-01-06, in 5 days']],
    [
      'is pinned alone',
      { gateway: gatewayAt('https://gateway.test', { tls: { pins: ['sha256/AAAA'] } }) },
      'warned',
      ['only one key is pinned'],
    ],
    [
      'is not trusted',
      { shakeHands: down('SELF_SIGNED_CERT_IN_CHAIN', 'refused') },
      'failed',
      ['the certificate of gateway.test:80 is not trusted (SELF_SIGNED_CERT_IN_CHAIN)'],
    ],
  ])('shows the certificate, which %s', async (...[, finds, status, messages]) => {
    const { of, trouble } = await look({ gateway, ...finds });
    expect(of('tls').status).toBe(status);
    expect(trouble('tls').map(({ message }) => message)).toEqual(messages);
    expect(of('tls').verdict).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ message: expect.stringMatching(LINE) as string }),
      ]) as object,
      facts: { chain: [{ pin: 'sha256/AAAA' }] },
    });
  });

  it('is not spoken there: it says so once, and where to look', async () => {
    const { trouble } = await look({ gateway, presented: down('ERR_SSL_WRONG_VERSION_NUMBER', 'refused') });
    expect(trouble('tls')).toMatchObject([{ faultClass: 'invalidInput', remedy: 'see scheme and port in baseUrl' }]);
  });

  it('is part of a call where a proxy is in between', async () => {
    const { of } = await look({ gateway: gatewayAt('https://gateway.test', { proxy: new URL('http://proxy.test') }) });
    expect(of('tls').status).toBe('not_applicable');
  });
});

describe('the address that others see', () => {
  const untold = { kind: 'invalid_response', detail: 'the answer is not one IP address', httpStatus: 302 } as const;

  it.each<[string, Played['echoed'], readonly string[]]>([
    ['public', { address: '203.0.113.7', version: 4 }, []],
    ['IPv6', { address: '2001:db8::7', version: 6 }, ['this is an IPv6 address, and the bank lets in IPv4 addresses']],
    [
      'private',
      { address: '192.168.1.7', version: 4 },
      ['this is an address of a private network, which the bank does not see'],
    ],
    ['not told', new GatewayFailure(untold), ['the echo at echo.test: the answer is not one IP address [HTTP 302]']],
  ])('is printed, and doubted where the bank would not see it: %s', async (_what, echoed, messages) => {
    const { trouble } = await look(echoed === undefined ? {} : { echoed }, { own: [], echo: ECHO });
    expect(trouble('address').map(({ message }) => message)).toEqual(messages);
  });

  it('is that of the proxy, if it is the way', async () => {
    const gateway = gatewayAt('http://gateway.test', { proxy: new URL('http://proxy.test:3128') });
    const { trouble } = await look({ gateway, echoed: down('ECONNRESET') }, { own: [], echo: ECHO });
    expect(trouble('address')[0]?.message).toMatch(
      /^the echo at echo\.test, asked through the proxy proxy\.test:3128: /,
    );
  });
});
