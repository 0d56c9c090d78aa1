import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { toRfc3339 } from '#libs/clock';
import { writtenAddress } from '#libs/configuration';
import type { EchoedAddress, PlainAnswer } from '#libs/gateway';
import { exceedsTolerance, type GatewayFailure, TLS_SPOKEN } from '#libs/session';
import { describeFailure } from '../gateway-words.js';
import { lifeOf } from './certificates-check.js';
import { type Check, fact, fault, type Finding, looked, notApplicable, some, type Verdict, warning } from './check.js';
import { asFault, type GatewayVisit } from './gateway-visit.js';

interface Listener {
  readonly host: string;
  readonly port: number;
}

interface Surroundings {
  /** Where the process that is checked listens itself. */
  readonly own: readonly Listener[];
  /** A server that answers with its caller's address. If absent, none is asked. */
  readonly echo?: URL | undefined;
}

/** Added to a call's own time limit, because the error of the call says more than ours. */
export const GRACE_MS = 1_000;

/** The checks of one way to a gateway, from near to far. None of them creates anything. */
export function gatewayChecks(visit: GatewayVisit, { own, echo }: Surroundings): readonly Check[] {
  const { subject, gateway } = visit;
  // Enough for the two handshakes of gateway.tls.
  const common = { subject, limitMs: 2 * gateway.timeoutMs + GRACE_MS };
  let skew: PlainAnswer['skew'];
  const http: Check['run'] = async (signal) =>
    asFault(async () => {
      const askedAtMs = visit.clock.monotonicMs();
      const answer = await visit.answer(signal);
      ({ skew } = answer);
      return answerVerdict(answer, visit, Math.round(visit.clock.monotonicMs() - askedAtMs));
    }, schemeRemedy);
  const address = (url: URL): Check => ({
    ...common,
    name: 'gateway.address',
    run: (signal) => addressLook(visit, url, signal),
  });
  return [
    { ...common, name: 'gateway.dns', run: () => nameLook(visit, own) },
    { ...common, name: 'gateway.tcp', needs: ['gateway.dns'], run: (signal) => connectionLook(visit, signal) },
    { ...common, name: 'gateway.tls', needs: ['gateway.tcp'], run: (signal) => tlsLook(visit, signal) },
    { ...common, name: 'gateway.http', needs: ['gateway.tcp', 'gateway.tls'], run: http },
    { ...common, name: 'gateway.clock', needs: ['gateway.http'], run: () => Promise.resolve(clockVerdict(skew)) },
    ...(echo === undefined ? [] : [address(echo)]),
  ];
}

const NOT_THE_GATEWAY = 'set gateway.baseUrl to the address that the bank has given';

/** Whether the gateway, or the proxy in front of it, has an address, and one that is not our own. */
function nameLook(visit: GatewayVisit, own: readonly Listener[]): Promise<Verdict> {
  const { entry } = visit;
  return asFault(async () => {
    const addresses = await visit.addresses();
    const self = own.find(({ host, port }) => port === entry.port && isOwn(host, [entry.host, ...addresses]));
    if (self !== undefined && entry.via === 'gateway') {
      const problem = `gateway.baseUrl leads to the checked process itself, which listens on ${writtenAddress(self)}`;
      return looked([fault('invalidInput', problem, NOT_THE_GATEWAY)]);
    }
    return looked([fact(`the ${entry.via} ${entry.host} is at ${some(addresses)}`)]);
  }, 'compare the host with the one that the bank has given, and see the name servers of this machine');
}

function isOwn(host: string, reached: readonly string[]): boolean {
  if (host !== '0.0.0.0' && host !== '::') return reached.includes(host);
  const ours = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
  return reached.some((address) => ours.includes(address));
}

function connectionLook(visit: GatewayVisit, signal: AbortSignal): Promise<Verdict> {
  const { entry } = visit;
  return asFault(
    async () => {
      await visit.connect(signal);
      return looked([fact(`port ${entry.port} of the ${entry.via} takes connections`)]);
    },
    // If something refused the connection, the way there is open.
    ({ trace }) =>
      trace?.mark === 'ECONNREFUSED'
        ? 'see whether the gateway runs there, and whether baseUrl names its port; some firewalls refuse in its place'
        : 'see whether firewalls and network policies let this machine out to it',
  );
}

/** Whether the certificate is trusted as configured, and in any case what was presented: for whoever looks for a change. */
function tlsLook(visit: GatewayVisit, signal: AbortSignal): Promise<Verdict> {
  const { gateway, clock } = visit;
  if (gateway.baseUrl.protocol !== 'https:') return Promise.resolve(notApplicable('baseUrl is http'));
  if (gateway.proxy !== undefined)
    return Promise.resolve(notApplicable('behind a proxy the handshake is part of gateway.http'));
  return asFault(async () => {
    const chain = await visit.presented(signal);
    const shown = chain.map(({ beginsAt, endsAt, ...names }) => ({
      ...names,
      beginsAt: toRfc3339(beginsAt),
      endsAt: toRfc3339(endsAt),
    }));
    const lines = shown.map(({ subject, issuer, beginsAt, endsAt, pin }, index) =>
      fact(
        `certificate ${index + 1}: ${subject}; issued by ${issuer}; ${beginsAt.slice(0, 10)} to ${endsAt.slice(0, 10)}; pin ${pin}`,
      ),
    );
    const verdict = await asFault(async () => {
      const protocol = await visit.shakeHands(signal);
      const lives = chain.map(({ endsAt }, index) => lifeOf(`certificate ${index + 1}`, endsAt, clock.now()));
      const ending = lives.filter(({ level }) => level !== 'fact');
      return looked([fact(`${protocol}, trusted`), ...ending, ...pinFindings(gateway.tls)]);
    }, 'compare tls.caFile, tls.pins and baseUrl with what the bank has given');
    return verdict.kind === 'looked' ? looked([...verdict.findings, ...lines], { chain: shown }) : verdict;
  }, 'see scheme and port in baseUrl');
}

const pinFindings = ({ pins }: GatewayVisit['gateway']['tls']): readonly Finding[] =>
  pins.length === 1
    ? [warning('only one key is pinned', 'pin the next key of the bank too: without it, a change of keys cuts you off')]
    : [];

function schemeRemedy({ trace }: GatewayFailure): string {
  if (trace?.mark !== TLS_SPOKEN) return 'see whether baseUrl, and the proxy if there is one, lead to the gateway';
  return `see scheme and port in ${trace.viaProxy === true ? 'proxy' : 'baseUrl'}`;
}

function answerVerdict(answer: PlainAnswer, visit: GatewayVisit, tookMs: number): Verdict {
  const { gateway, createAddress } = visit;
  const { httpStatus } = answer;
  const { href } = createAddress ?? gateway.baseUrl;
  const told = fact(`GET of ${href} is answered ${httpStatus} after ${tookMs} ms`);
  return looked([told, ...doubts(answer, visit)], { ...(createAddress && { createsAt: href }), httpStatus, tookMs });
}

/**
 * Any status is an answer, as nothing documents what the gateway does with a GET: an answer that hints at a wrong
 * address is no more than a hint, unless it is one of ours. Where there is no operation, as at a `baseUrl` itself, a
 * gateway may answer 404, and whatever stands in front of it may do so with a page.
 */
function doubts(
  { httpStatus, isHtml, isOurs }: PlainAnswer,
  { gateway, createAddress }: GatewayVisit,
): readonly Finding[] {
  if (isOurs) {
    const problem = 'what answers at gateway.baseUrl is a session broker or an egress, and not the gateway';
    return [fault('invalidInput', problem, NOT_THE_GATEWAY)];
  }
  const remedy = `compare ${(createAddress ?? gateway.baseUrl).href} with the address that the bank has given`;
  if (httpStatus === 404)
    return createAddress === undefined
      ? []
      : [warning('404: perhaps nothing is at this address', `${remedy}; --create-session shows it for certain`)];
  if (httpStatus >= 300 && httpStatus < 400) return [warning('the address redirects, and no call follows', remedy)];
  return isHtml ? [warning('the answer is a page of HTML, as of a web site or a firewall', remedy)] : [];
}

/** Expiry is judged by the gateway's clock. */
function clockVerdict(skew: PlainAnswer['skew']): Verdict {
  if (skew === undefined) return { kind: 'not_run', reason: 'the answer has no Date header' };
  const skewMs = Math.round(skew.likelyMs);
  const off = `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} ours`;
  const finding = exceedsTolerance(skew)
    ? warning(`the gateway's clock is ${off}`, 'have ours set by NTP: the gateway judges expiry by its own')
    : fact("the gateway's clock agrees with ours");
  return looked([finding], { skewMs });
}

/** Networks whose addresses nobody outside of them sees. */
const inside = new BlockList();
inside.addSubnet('10.0.0.0', 8);
inside.addSubnet('100.64.0.0', 10);
inside.addSubnet('127.0.0.0', 8);
inside.addSubnet('169.254.0.0', 16);
inside.addSubnet('172.16.0.0', 12);
inside.addSubnet('192.168.0.0', 16);

/** The bank lets in only IPv4 addresses that it was told about. */
function doubtsAbout({ address, version }: EchoedAddress): readonly Finding[] {
  if (version === 6) {
    const remedy = 'ask an echo that has an IPv4 address only, and see that calls to the bank go by IPv4';
    return [warning('this is an IPv6 address, and the bank lets in IPv4 addresses', remedy)];
  }
  return inside.check(address)
    ? [warning('this is an address of a private network, which the bank does not see', 'ask an echo outside of it')]
    : [];
}

/** Which address the world sees when the process calls. */
function addressLook(visit: GatewayVisit, echo: URL, signal: AbortSignal): Promise<Verdict> {
  const { gateway } = visit;
  const way = gateway.proxy === undefined ? '' : `, asked through the proxy ${gateway.proxy.host}`;
  return asFault(
    async () => {
      const seen = await visit.echoed(echo, signal);
      return looked([fact(`calls come from ${seen.address}, as ${echo.host} sees it`), ...doubtsAbout(seen)], seen);
    },
    'give --echo-url a server that can be reached from here, and answers with the address of its caller as plain text',
    // The echo, or the proxy on the way to it, is to blame: the bank was not asked.
    (failure) => {
      const { httpStatus, detail = '' } = failure;
      const what = httpStatus === undefined ? describeFailure(failure) : `${detail} [HTTP ${httpStatus}]`;
      return `the echo at ${echo.host}${way}: ${what}`;
    },
  );
}
