import { type Instant, plusMs, toRfc3339 } from '#libs/clock';
import { storeRefusal } from '#libs/errors';
import {
  type Cause,
  type CreateCallWindow,
  type FailedCall,
  type MerchantCondition,
  sharedFailureKinds,
} from '#libs/session';
import { type Failed, faultOf } from './call-faults.js';
import { type CauseCode, effects, words } from './words.js';

/** A cause in words. */
export interface Told {
  /** A sentence; at most 120 characters, for an address of the usual length. */
  readonly text: string;
  readonly remedy: string;
  /** The page of docs/runbooks to go on with. */
  readonly runbook: string;
}

/** The colour in which a condition is shown to people. Red: payments fail, or may be failing now. */
export const conditionColours = {
  unavailable: 'red',
  foreign_authorizer: 'red',
  dead: 'red',
  stale: 'yellow',
  failing: 'yellow',
  fresh: 'green',
} as const satisfies Record<MerchantCondition, string>;

/** What is wrong with a merchant; @param merchant for the command that renews it */
export function told(cause: Cause, merchant: string): Told {
  const { says, remedy, runbook, thenRenew } =
    words[isCall(cause) ? faultOf({ ...cause, kind: cause.code }) : cause.code];
  const values = valuesOf(cause);
  const effect = cause.effect === undefined ? '' : effects[cause.effect];
  return {
    text: capital(`${effect}${filled(says, values)}`),
    remedy: `${filled(remedy, values)}${thenRenew === true ? `; then session-broker renew --merchant ${merchant}` : ''}`,
    runbook,
  };
}

/** What ended a call, as a clause that begins in lower case. */
export function toldCall(call: Failed): Told {
  const { says, remedy, runbook } = words[faultOf(call)];
  const values = callValues(call);
  return { text: filled(says, values), remedy: filled(remedy, values), runbook };
}

/** The store, on its own: what its refusal means, if that is known. */
export function toldStore(condition: 'silent' | 'refuses', reason: string | undefined): Told {
  const { says, remedy, runbook } = words[condition === 'silent' ? 'store_silent' : 'store_refuses'];
  const known = condition === 'refuses' ? storeRefusal(reason) : undefined;
  const because = reason === undefined ? '' : ` (${reason})`;
  return {
    text: `${capital(known === undefined ? says : `the store ${known.is}`)}${because}`,
    remedy: known?.remedy ?? remedy,
    runbook,
  };
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** What to do about a `reason` alone; undefined for a word that is none, e.g. of a later version. */
export function helpFor(reason: string): Pick<Told, 'remedy' | 'runbook'> | undefined {
  if (!Object.hasOwn(words, reason)) return undefined;
  const { remedy, runbook } = words[reason as CauseCode];
  return { remedy, runbook };
}

function isCall(cause: Cause): cause is Extract<Cause, FailedCall> {
  return sharedFailureKinds.some((kind) => kind === cause.code);
}

type Values = Readonly<Record<string, string | undefined>>;

function filled(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? '');
}

function valuesOf(cause: Cause): Values {
  if (cause.code === 'budget_exhausted') return budgetValues(cause);
  if (cause.code === 'unopened') return { generation: String(cause.generation) };
  if (cause.code === 'watched') {
    return { failedUntil: momentText(cause.failedUntil), watchedUntil: momentText(cause.watchedUntil) };
  }
  return isCall(cause) ? callValues(cause) : {};
}

const SHORT_KEY = 8;
/** Enough of a thumbprint to compare it with another one. */
const short = (thumbprint: string): string => `${thumbprint.slice(0, SHORT_KEY)}…`;
const bodies: Readonly<Record<string, string>> = { html_page: ', a page of HTML', empty_answer: '' };

function callValues({ msgCode, trace = {}, newestKey = '' }: Omit<Failed, 'kind'>): Values {
  const { mark, peer = 'the gateway', viaProxy, httpStatus, thumbprint = '' } = trace;
  const body = msgCode === undefined ? '' : (bodies[msgCode] ?? `, ${msgCode}`);
  const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
  return {
    where: viaProxy === true ? `the proxy ${peer}` : peer,
    mark: mark === 'UND_ERR_CONNECT_TIMEOUT' ? 'no connection in time' : mark,
    marked: mark === undefined ? '' : ` (${mark})`,
    status,
    said: msgCode === undefined ? status : `: ${msgCode}`,
    answered: ` (HTTP ${httpStatus}${body})`,
    thumbprint,
    theirs: short(thumbprint),
    ours: short(newestKey),
  };
}

function budgetValues({ spent }: Extract<Cause, { code: 'budget_exhausted' }>): Values {
  if (spent === undefined) return { budget: 'the share of the budget is', until: '' };
  return { budget: callsText(spent.window), until: `; the next is free at ${momentText(spent.freeAt)}` };
}

function callsText(window: CreateCallWindow | undefined): string {
  if (window === undefined) return 'all create calls of the budget are';
  const { calls, perMs } = window;
  return calls === 1
    ? `the one create call of ${spanText(perMs)} is`
    : `all ${calls} create calls of ${spanText(perMs)} are`;
}

const NEARLY_A_SECOND_MS = 999;

/** Never too early, to the second. */
export function momentText(moment: Instant): string {
  return toRfc3339(plusMs(moment, NEARLY_A_SECOND_MS))
    .replace('T', ' ')
    .replace(/\.\d+Z$|Z$/, ' UTC');
}

const SPAN_UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** In the largest unit of which there are at least two, or one exactly. */
function spanText(durationMs: number): string {
  const [unit, unitMs] =
    SPAN_UNITS.find(([, ms]) => durationMs >= 2 * ms || durationMs === ms) ?? (['s', 1_000] as const);
  return `${Math.floor(durationMs / unitMs)} ${unit}`;
}
