import { conditionColours, momentText, toldStore } from '#libs/causes';
import { type Instant, instantFromEpochMs } from '#libs/clock';
import { faultsText } from '#libs/configuration';
import { merchantConditions } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';
import type { Cell, Tone } from '../terminal.js';
import { type AnswerMembers, membersOf, momentIn, textIn } from './answer.js';
import { classOfReason } from './broker-fault.js';

/** As much of a merchant listed by `GET /v1/merchants` as is shown. */
export interface ListedMerchant {
  readonly id: string;
  /** As received, whether this version knows the condition or not. */
  readonly state: Cell & { readonly tone: Tone };
  readonly left: string;
  readonly next: string;
  readonly generation: string;
  /** What is wrong, as the broker says it, with the runbook. */
  readonly cause?: string;
  /** The kind of fault; undefined if nothing is known to be wrong. */
  readonly fault?: ExitClass;
  /** What the bank's support asks for. */
  readonly gatewayRequestId?: string;
}

/** As much of a replica's answer to `GET /v1/merchants` as is shown. */
export interface Listing {
  readonly replica: string | undefined;
  /** Why it cannot use its store; undefined while it can. */
  readonly storeTrouble: string | undefined;
  readonly configurationTroubles: readonly string[];
  readonly merchants: readonly ListedMerchant[];
  /** As received, for programs. */
  readonly body: AnswerMembers;
}

/** The page of docs/runbooks for a store that cannot be used. */
export const STORE_DOWN = 'store-down';
const CONFIG_RELOAD_FAILED = 'config-reload-failed';
/** The page about a session in the store that no key of the replica opens. */
const UNOPENABLE = 'unopenable-records';

const withRunbook = (text: string, runbook: string): string => `${text} (runbook: ${runbook})`;

/** Undefined if the answer is not a list. */
export function listingOf(body: AnswerMembers, now: Instant): Listing | undefined {
  const { merchants } = body;
  if (!Array.isArray(merchants)) return undefined;
  return {
    replica: textIn(body, 'replica'),
    storeTrouble: storeTrouble(body),
    configurationTroubles: configurationTroubles(membersOf(body['configuration'])),
    merchants: merchants.flatMap((one) => merchantOf(membersOf(one), now) ?? []),
    body,
  };
}

function storeTrouble(body: AnswerMembers): string | undefined {
  const [store, reason] = [textIn(body, 'store'), textIn(body, 'storeReason')];
  if (store !== 'silent' && store !== 'refuses') return undefined;
  const { text, runbook } = toldStore(store, reason);
  return withRunbook(text, runbook);
}

/** What has become of changed files, which changes nothing of what is served. */
function configurationTroubles(changed: AnswerMembers): readonly string[] {
  const { faults, awaitingRestart } = changed;
  const [since, firstFault, advice] = ['refusedSince', 'firstFault', 'advice'].map((name) => textIn(changed, name));
  const awaiting = Array.isArray(awaitingRestart) ? textIn({ names: awaitingRestart.join(', ') }, 'names') : undefined;
  const lines = [];
  if (since !== undefined) {
    const found = faultsText({
      faults: typeof faults === 'number' ? faults : 1,
      ...(firstFault === undefined ? {} : { firstFault }),
    });
    lines.push(withRunbook(`configuration: a change has been refused since ${since}: ${found}`, CONFIG_RELOAD_FAILED));
  }
  if (awaiting !== undefined && awaiting !== '') {
    const what = `configuration: changes take effect at the next start: ${awaiting}`;
    const told = advice === undefined ? what : `${what}; ${advice}`;
    lines.push(withRunbook(told, textIn(changed, 'runbook') ?? CONFIG_RELOAD_FAILED));
  }
  return lines;
}

function merchantOf(listed: AnswerMembers, now: Instant): ListedMerchant | undefined {
  const id = textIn(listed, 'id');
  if (id === undefined) return undefined;
  const [cause, runbook = '-'] = [textIn(listed, 'cause'), textIn(listed, 'runbook')];
  const state = stateOf(listed);
  const isWell = state.tone === 'green';
  const lastFailure = membersOf(listed['lastFailure']);
  const gatewayRequestId = isWell ? undefined : textIn(lastFailure, 'gatewayRequestId');
  const { generation } = listed;
  return {
    id,
    state,
    left: leftText(listed, now),
    next: nextText(listed, now),
    generation: typeof generation === 'number' ? String(generation) : '-',
    ...(cause === undefined ? {} : { cause: withRunbook(cause, runbook) }),
    ...(isWell ? {} : { fault: faultOf(runbook, lastFailure) }),
    ...(gatewayRequestId === undefined ? {} : { gatewayRequestId }),
  };
}

function stateOf(listed: AnswerMembers): ListedMerchant['state'] {
  const condition = textIn(listed, 'condition') ?? textIn(listed, 'state') ?? '-';
  const known = merchantConditions.find((one) => one === condition);
  return { text: condition.replaceAll('_', ' '), tone: known === undefined ? 'yellow' : conditionColours[known] };
}

function faultOf(runbook: string, lastFailure: AnswerMembers): ExitClass {
  if (runbook === UNOPENABLE) return 'invalidAnswer';
  return lastFailure['wrongAddress'] === true ? 'invalidInput' : classOfReason(textIn(lastFailure, 'kind'));
}

/** How long the session is still valid by this machine's clock, or since when there is none. */
function leftText(listed: AnswerMembers, now: Instant): string {
  const expiresAtMs = momentIn(listed, 'expiresAt');
  if (expiresAtMs === undefined) return '-';
  if (listed['state'] === 'unavailable') return `none since ${momentText(instantFromEpochMs(expiresAtMs))}`;
  return spanText(expiresAtMs - now);
}

function nextText(listed: AnswerMembers, now: Instant): string {
  if (listed['renewing'] === true) return 'creating one';
  if (listed['renewalBlocked'] === true) return 'nothing is renewed';
  const [retryAtMs = 0, renewAtMs = 0] = [momentIn(listed, 'retryAt'), momentIn(listed, 'renewAt')];
  if (retryAtMs > now) return `attempt in ${spanText(retryAtMs - now)}`;
  return renewAtMs > now ? `renewal in ${spanText(renewAtMs - now)}` : 'attempt is due';
}

const SPAN_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** In its two largest units, such as `41m 3s`, rounded down so that nothing seems to have more time than it does. */
export function spanText(durationMs: number): string {
  const largest = SPAN_UNITS.findIndex(([, ms]) => durationMs >= ms);
  if (largest < 0) return '0s';
  let restMs = durationMs;
  const parts = SPAN_UNITS.slice(largest, largest + 2).map(([unit, ms]) => {
    const count = Math.floor(restMs / ms);
    restMs -= count * ms;
    return `${count}${unit}`;
  });
  return parts.join(' ');
}
