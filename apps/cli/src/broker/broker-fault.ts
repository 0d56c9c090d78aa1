import { helpFor } from '#libs/causes';
import type { ExitClass } from '../exit-codes.js';
import { type AnswerMembers, textIn } from './answer.js';
import type { BrokerPlace } from './broker-place.js';
import type { NoAnswer, ReplicaPlace } from './no-answer.js';

/**
 * Why a broker did not do what was asked. With `--json` this is the `error` of every command that asks a broker;
 * docs/reference/command-line-json.md lists its members and codes.
 */
export interface AskFault {
  /** The broker's own code, if it answered. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status, if there was an answer. */
  readonly status?: number;
  readonly reason?: string;
  readonly remedy?: string;
  readonly runbook?: string;
}

export interface BrokerFault {
  readonly error: AskFault;
  readonly fault: ExitClass;
  /** Whether the request may have reached a broker. */
  readonly wasAsked: boolean;
}

export const isFault = (said: object): said is BrokerFault => 'wasAsked' in said;

export interface ReplicaAnswer {
  readonly status: number;
  readonly body: AnswerMembers;
}

const codeOf: Readonly<Record<NoAnswer['kind'], string>> = {
  unreachable: 'broker_unreachable',
  untrusted: 'certificate_untrusted',
  wrong_address: 'wrong_address',
  cut_off: 'no_answer',
  silent: 'no_answer',
};

/** For a broker that gave no answer. */
export function faultOfSilence(why: NoAnswer, place: ReplicaPlace, { ca }: Pick<BrokerPlace, 'ca'>): BrokerFault {
  const { kind, problem, fault } = why;
  const isDown = kind === 'unreachable' || kind === 'silent';
  return {
    error: {
      code: codeOf[kind],
      message: problem,
      remedy: silenceRemedy(why, place, ca),
      ...(isDown ? { runbook: 'replica-down' } : {}),
    },
    fault,
    wasAsked: kind === 'cut_off' || kind === 'silent',
  };
}

/** For an answer that is not the wanted one. */
export function faultOfAnswer(
  answer: ReplicaAnswer,
  { url }: ReplicaPlace,
  { hasToken }: Pick<BrokerPlace, 'hasToken'>,
): BrokerFault {
  const { status, body } = answer;
  const [code, reason, cause, detail, title] = ['code', 'reason', 'cause', 'detail', 'title'].map((name) =>
    textIn(body, name),
  );
  const marks = [`HTTP ${status}`, ...(code === undefined ? [] : [code])].join(', ');
  const message = `${cause ?? detail ?? title ?? 'the answer is not of a broker'} [${marks}]`;
  const told = { message, status, ...(reason === undefined ? {} : { reason }) };
  if (isWrongAddress(answer)) {
    const error = { ...told, code: code ?? codeOf.wrong_address, remedy: addressRemedy(url) };
    return { error, fault: 'invalidInput', wasAsked: true };
  }
  const error = { ...told, code: code ?? 'unexpected_answer', ...helpWith(answer, reason ?? code, hasToken) };
  return { error, fault: classOf(status, code, reason), wasAsked: true };
}

function helpWith(
  answer: ReplicaAnswer,
  why: string | undefined,
  hasToken: boolean,
): Pick<AskFault, 'remedy' | 'runbook'> {
  const help = helpFor(why ?? '');
  if (help !== undefined) return { remedy: `${help.remedy} (runbook: ${help.runbook})`, runbook: help.runbook };
  const remedy = answerRemedy(answer, textIn(answer.body, 'code'), hasToken);
  return remedy === undefined ? {} : { remedy };
}

/** For people: what happened, and on a line of its own what to do. */
export const faultLines = ({ message, remedy }: Pick<AskFault, 'message' | 'remedy'>): readonly string[] => [
  message,
  ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
];

const byReason: Readonly<Record<string, ExitClass>> = {
  refused: 'refused',
  revoked: 'refused',
  invalid_response: 'invalidAnswer',
};

/** @param reason why there is no session, which is also the kind of a failed create call */
export const classOfReason = (reason = ''): ExitClass => byReason[reason] ?? 'tryLater';

function classOf(status: number, code: string | undefined, reason: string | undefined): ExitClass {
  if (status >= 500 || PASSING.has(status)) return classOfReason(reason);
  return status === 400 || code === 'merchant_not_found' ? 'invalidInput' : 'refused';
}

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** What a proxy in front of a broker may also say when the address is right. */
const ALSO_OF_A_PROXY: ReadonlySet<number> = new Set([...PASSING, 401, 403, 407]);
/** Marks a problem as a broker's own. */
const PROBLEM_TYPE = 'urn:session-broker:problem:';
/** What a broker says if the request is not part of its API: at its management port, or with an extra path. */
const NO_ROUTE: ReadonlySet<unknown> = new Set(['route_not_found', 'method_not_allowed']);

/**
 * Whether an answer other than the wanted one shows that there is no broker API at the address, which no later call
 * fixes.
 */
export function isWrongAddress({ status, body: { type, code } }: ReplicaAnswer): boolean {
  if (typeof type === 'string' && type.startsWith(PROBLEM_TYPE)) return NO_ROUTE.has(code);
  return status < 500 && !ALSO_OF_A_PROXY.has(status);
}

/** For a caller who may read no merchant at all. */
export const GRANT_READ = 'grant it session:read, or use the token of a caller that has it';

const byCode: Readonly<Record<string, string>> = {
  forbidden: 'grant it in auth.policies of the broker',
  merchant_not_found: 'name a merchant that session-broker status lists',
  rate_limited: 'ask again in a moment',
};

function answerRemedy({ status }: ReplicaAnswer, code: string | undefined, hasToken: boolean): string | undefined {
  if (status === 401) {
    return hasToken
      ? 'give the token of a caller of this broker, by BROKER_TOKEN_FILE or --token-file'
      : 'no token is given: set BROKER_TOKEN_FILE, or give --token-file';
  }
  if (code !== undefined) return byCode[code];
  if (status >= 500) {
    return 'something in front of the broker answers: see whether it reaches the broker, or give the address of a replica';
  }
  return 'something in front of the broker refuses: have it let this machine in, or give the address of a replica';
}

const CORRECT_ADDRESS = 'correct --url, or BROKER_URL';

/** For when there is no broker API at the address, most often because a path was added to it. */
const addressRemedy = ({ pathname, search, origin }: URL): string =>
  pathname === '/' && search === '' ? CORRECT_ADDRESS : `${CORRECT_ADDRESS}: give the address alone, ${origin}`;

const silenceRemedies: Readonly<Record<Exclude<NoAnswer['kind'], 'untrusted' | 'wrong_address'>, string>> = {
  unreachable: 'see whether a replica runs there, and whether --url or BROKER_URL is right (runbook: replica-down)',
  cut_off: 'see whether a broker listens there: a Redis, for example, hangs up like that',
  silent: 'see whether a broker listens there, and restart it if it hangs (runbook: replica-down)',
};

const OTHER_NAME = 'use a name that the certificate has, in --url or BROKER_URL';
const ofCertificate: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'give the broker a new one',
  CERT_NOT_YET_VALID: 'compare the clocks of this machine and of the broker',
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_NAME,
  HOSTNAME_MISMATCH: OTHER_NAME,
};

function silenceRemedy({ kind, mark = '' }: NoAnswer, { url }: ReplicaPlace, ca: string | undefined): string {
  if (kind === 'wrong_address')
    return `${CORRECT_ADDRESS}: ${url.protocol === 'http:' ? 'https' : 'http'}://${url.host}`;
  if (kind !== 'untrusted') return silenceRemedies[kind];
  const authority =
    ca === undefined
      ? 'give the file of the authority that has issued it, by BROKER_CA_FILE or --ca-file'
      : 'BROKER_CA_FILE, or --ca-file, lacks the authority that has issued it: give a file that has it';
  return ofCertificate[mark] ?? authority;
}
