import { type Clock, Deadline } from '#libs/clock';
import type { EgressConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { exchangeEndOf, fetchThrough, type OutboundConnections } from '#libs/outbound';
import { membersOf, parsedMembers, textIn } from '../broker/answer.js';
import { faultOfAnswer, isWrongAddress, type ReplicaAnswer } from '../broker/broker-fault.js';
import { noAnswer, type NoAnswer } from '../broker/no-answer.js';
import { readBounded } from '../key-file.js';
import { type Check, fact, fault, type Finding, looked, some, type Verdict, warning } from './check.js';

interface Question {
  readonly path: string;
  readonly signal: AbortSignal;
  /** Makes it a POST. */
  readonly body?: object;
}

/** The broker, asked as the egress asks it: with its token or certificate, and the authorities that it trusts. */
export interface AskedBroker {
  readonly settings: EgressConfiguration['broker'];
  readonly clock: Clock;
  readonly connections: OutboundConnections;
}

/** Time limit for one answer; longer than the broker makes a caller wait for a session. */
const LIMIT_MS = 15_000;

/** What an egress needs of its broker. Nothing is created, reported or opened. */
export function brokerChecks(broker: AskedBroker, { clients, routes, aliasKeys }: EgressConfiguration): Check[] {
  const merchants = [...new Set(clients.map(({ merchant }) => merchant))];
  const opens = routes.some(({ body }) => body === 'sealed');
  return [
    {
      name: 'broker.access',
      limitMs: LIMIT_MS,
      run: (signal) => asBrokerFault(broker, signal, () => access(broker, signal)),
    },
    ...merchants.map((merchant): Check => ({
      name: 'broker.session',
      subject: merchant,
      needs: ['broker.access'],
      limitMs: 3 * LIMIT_MS,
      run: (signal) => asBrokerFault(broker, signal, () => sessionOf(broker, { merchant, opens, signal })),
    })),
    ...(aliasKeys.length === 0
      ? []
      : [
          {
            name: 'keys',
            needs: ['broker.access'],
            limitMs: 2 * LIMIT_MS,
            run: (signal: AbortSignal) =>
              asBrokerFault(broker, signal, () => keys(broker, { aliasKeys, clients, merchants, signal })),
          },
        ]),
  ];
}

/** @throws Error of the network, which `asBrokerFault` describes; BrokerError if there is no token to ask with */
async function ask({ settings, clock, connections }: AskedBroker, question: Question): Promise<ReplicaAnswer> {
  const { tls, url, tokenFile } = settings;
  const { ca, cert, key } = tls;
  const { path, signal, body } = question;
  const token = tokenFile === undefined ? undefined : (await readBounded(tokenFile)).text.trim();
  const fetched = fetchThrough(connections, {
    tls: { pins: [], ...(ca !== undefined && { ca }) },
    ...(cert !== undefined && key !== undefined && { certificate: { cert, key } }),
  });
  const deadline = new Deadline(clock, LIMIT_MS, signal);
  try {
    const answer = await fetched(`${url.href.replace(/\/$/, '')}${path}`, {
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      redirect: 'manual',
      signal: deadline.signal,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: parsedMembers(await answer.text()) };
  } finally {
    deadline.close();
  }
}

const remedies: Readonly<Partial<Record<NoAnswer['fault'], string>>> = {
  refused: 'compare broker.url and broker.tls.caFile',
  invalidInput: 'see scheme and port in broker.url',
};

/** The verdict of `look`; a broker that cannot be reached is a fault, classed by what is in the way. */
async function asBrokerFault(
  { settings: { url }, clock }: AskedBroker,
  signal: AbortSignal,
  look: () => Promise<Verdict>,
): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof BrokerError) throw error;
    // The error that fetch throws says nothing by itself, only its cause does.
    const end = exchangeEndOf(error instanceof TypeError ? error.cause : error);
    const { problem, fault: kind } = await noAnswer(end, { url }, { clock, signal });
    return looked([fault(kind, problem, remedies[kind] ?? 'see whether broker.url is right, and reachable from here')]);
  }
}

/** What an unexpected answer says, in the broker's own words. */
function unwished(answer: ReplicaAnswer, what: string, { settings: { url } }: AskedBroker): Finding {
  const { error, fault: kind } = faultOfAnswer(answer, { url }, { hasToken: true });
  const remedy = isWrongAddress(answer) ? 'see host, port and path in broker.url' : error.remedy;
  return fault(kind, `${what}: ${error.message}`, remedy ?? 'docs/reference/errors.md says what to do');
}

/** Whether the broker is there and recognizes its caller, and which merchants that may read. */
async function access(broker: AskedBroker, signal: AbortSignal): Promise<Verdict> {
  const answer = await ask(broker, { path: '/v1/merchants', signal });
  if (answer.status === 401) {
    const remedy = "compare broker.tokenFile, or broker.tls, with the broker's auth section";
    return looked([fault('refused', 'the broker does not know the egress', remedy)]);
  }
  const { host } = broker.settings.url;
  const { merchants } = answer.body;
  if (answer.status !== 200 || !Array.isArray(merchants)) return looked([unwished(answer, host, broker)]);
  const ids = merchants.flatMap((each) => textIn(membersOf(each), 'id') ?? []);
  return looked([fact(`the broker at ${host} knows the egress, which may read ${some(ids) || 'no merchant'}`)]);
}

interface Merchant {
  readonly merchant: string;
  /** Whether any route is sealed, so that answers must be opened. */
  readonly opens: boolean;
  readonly signal: AbortSignal;
}

/**
 * Whether the broker gives out a session of the merchant, and lets the egress do with it what a payment may need. Rights
 * other than reading are tested with empty requests: the broker checks rights before it reads a body.
 */
async function sessionOf(broker: AskedBroker, { merchant, opens, signal }: Merchant): Promise<Verdict> {
  const at = `/v1/merchants/${merchant}`;
  const session = await ask(broker, { path: `${at}/session`, signal });
  const { generation, expiresAt } = session.body;
  const findings = [
    session.status === 200
      ? fact(`generation ${String(generation)} is served, until ${String(expiresAt)}`)
      : unwished(session, `there is no session of ${merchant} to pay with`, broker),
  ];
  const rights = { 'session:reject': 'session/rejections', ...(opens && { 'payload:decrypt': 'payloads/decrypt' }) };
  for (const [right, path] of Object.entries(rights)) {
    const { status } = await ask(broker, { path: `${at}/${path}`, signal, body: {} });
    const problem = `the egress lacks ${right} for ${merchant}`;
    if (status === 403) findings.push(fault('refused', problem, "allow it in the broker's auth.policies"));
  }
  return looked(findings, { generation, expiresAt });
}

interface Keys extends Pick<EgressConfiguration, 'aliasKeys' | 'clients'> {
  readonly merchants: readonly string[];
  readonly signal: AbortSignal;
}

/** The keys of the egress and of its clients, by thumbprint: none of them may be one that the bank knows. */
async function keys(broker: AskedBroker, { aliasKeys, clients, merchants, signal }: Keys): Promise<Verdict> {
  const ofBank = new Map<string, string>();
  const untold: string[] = [];
  for (const merchant of merchants) {
    const { body } = await ask(broker, { path: `/v1/merchants/${merchant}/client-key`, signal });
    const thumbprint = textIn(body, 'thumbprint');
    if (thumbprint === undefined) untold.push(merchant);
    else ofBank.set(thumbprint, merchant);
  }
  const own = aliasKeys.map(({ thumbprint }) => thumbprint);
  const used = [
    ...own.map((thumbprint, index) => ({ where: `aliasKeyFiles[${index}]`, thumbprint })),
    ...clients.flatMap(({ name, alias }) =>
      alias === undefined ? [] : { where: `publicKeyFile of ${name}`, thumbprint: alias.publicKey.thumbprint },
    ),
  ];
  const remedy = 'make one with `keys generate`: the key of the merchant belongs in the broker alone';
  const findings = used.flatMap(({ where, thumbprint }) => {
    const merchant = ofBank.get(thumbprint);
    return merchant === undefined ? [] : fault('invalidInput', `${where} is the client key of ${merchant}`, remedy);
  });
  const unknown = warning(`the client key of ${some(untold)} is not told`, 'see what broker.session says');
  return looked([fact(`alias keys: ${some(own)}`), ...findings, ...(untold.length === 0 ? [] : [unknown])], {
    aliasKeys: own,
  });
}
