import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import { type AskFault, faultOfSilence } from '../broker/ask-fault.js';
import { askFaultCodes, type NoAnswer } from '../broker/exchange-cause.js';
import {
  causeText,
  classOfFailure,
  isMisaddressed,
  isWell,
  type ListedMerchant,
  nextText,
  supportId,
  supportText,
} from '../broker/listed-merchant.js';
import { isListing, type Listing, listing } from '../broker/listing.js';
import { ownCodeOf, placeName, type ReplicaAnswer, type ReplicaPlace } from '../broker/replica-call.js';
import type { NameFault } from '../broker/named-merchants.js';
import { storeTrouble } from '../broker/store-trouble.js';
import { addressRemedy, NAME_A_MERCHANT, tokenRemedy } from '../broker/remedies.js';
import { isWrongAddress } from '../broker/wrong-address.js';
import { type ExitClass, exitCodeOf, exitCodes, gravestOf } from '../exit-codes.js';
import type { Instant } from '#libs/clock';
import { BrokerError, unavailableReasons } from '#libs/errors';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';
import { cameToNoBroker, makeWish, type PassedOver, type Wish } from './renewal-wish.js';
import { spentBudgetRemedy } from './spent-budget-remedy.js';

interface RenewOptions extends BrokerOptions {
  readonly merchant: string;
  readonly json?: true;
}

/** What the replica that was asked says about the merchant and its store; empty if it has no list. */
interface Look {
  readonly listing?: Listing;
  readonly found?: ListedMerchant;
}

const NO_BROKER = 'the answer is not that of a broker';

/**
 * Has a newer session created now, regardless of the back-off. The first replica that answers is asked; the others
 * share the result. Anything unusable, such as the token file, is also reported as the outcome for this merchant.
 */
export async function renew(options: RenewOptions, context: CommandContext): Promise<Report> {
  try {
    return await renewBy(options, context);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const { code, message } = error;
    return {
      lines: [],
      error: message,
      json: { merchant: options.merchant, error: { code, message } },
      exitCode: exitCodeOf(error),
    };
  }
}

/** @throws BrokerError `invalid_request` before anything is asked */
async function renewBy(options: RenewOptions, context: CommandContext): Promise<Report> {
  const { merchant, json } = options;
  const { terminal } = context;
  const broker = await brokerPlace(options, context);
  const onWaiting = (place: string): void => {
    if (json !== true) terminal.err(`waiting for ${place}: a create call can take half a minute`);
  };
  const wish = await makeWish(broker, merchant, { ...context, onWaiting });
  return ofReplica(await outcomeOf(wish, { merchant, broker }, context), wish);
}

interface Wanted {
  readonly merchant: string;
  readonly broker: BrokerPlace;
}

async function outcomeOf(wish: Wish, { merchant, broker }: Wanted, context: CommandContext): Promise<Report> {
  const { place, answer } = wish;
  if ('problem' in answer)
    return unreached(merchant, wish, { why: answer, error: faultOfSilence(answer, place, broker) });
  const look = async (): Promise<Look> => {
    const listed = await listing(broker, place, context);
    if (!isListing(listed)) return {};
    const found = listed.merchants.find(({ id }) => id === merchant);
    return { listing: listed, ...(found === undefined ? {} : { found }) };
  };
  const { status, body } = answer;
  if (!isRenewed(answer) && isWrongAddress(answer)) return misled(merchant, place, answer);
  if (status === 200) {
    const { found } = await look();
    return withOutlook(renewed(merchant, body), body['result'] === 'just_renewed', found);
  }
  const refusal = { answer, fault: wish.nameFault, hasToken: broker.hasToken, now: context.clock.now() };
  if (status < 500) return refused(merchant, { ...refusal, outlook: [], listed: undefined });
  const { listing: seen, found: listed } = await look();
  const trouble = isOfStore(said(body['reason'])) && seen !== undefined ? storeTrouble(seen) : undefined;
  const outlook = [...(trouble === undefined ? [] : [trouble]), outlookOf(listed, refusal.now)];
  return refused(merchant, { ...refusal, outlook, listed });
}

/** If there are several replicas, which one it was, and why it was none of those before it. */
function ofReplica(report: Report, { place, answer, hasReplicas, notAsked, notThere }: Wish): Report {
  const asked = hasReplicas && !('problem' in answer) ? [`asked       ${placeName(place)}`] : [];
  return {
    ...report,
    lines: [
      ...notThere.map((one) => `not there   ${one.place}: ${one.error.message}`),
      ...notAsked.map((one) => `not asked   ${one.place}: ${one.error.message}`),
      ...asked,
      ...report.lines,
    ],
    json: {
      ...report.json,
      place: placeName(place),
      ...(notAsked.length > 0 && { notAsked: notAsked.map(shownOf) }),
      ...(notThere.length > 0 && { notThere: notThere.map(shownOf) }),
    },
  };
}

const shownOf = ({ place, error }: PassedOver): object => ({ place, error });

const servedAs: Readonly<Record<string, string>> = {
  foreign_authorizer: 'ended by others again and again, and served on',
  reported_dead: 'reported dead by consumers, and served on',
  likely_dead: 'very likely dead, and served on',
  unshared: 'at this replica alone, and served on',
};

/** What follows for payments, and when. For a merchant that is not listed, what is true of every merchant. */
function outlookOf(found: ListedMerchant | undefined, nowMs: number): string {
  if (found === undefined) return 'The next attempt comes by itself: session-broker status shows it';
  if (found.state === 'unavailable') return `There is no session; ${nextOf(found, nowMs)}`;
  const what = servedAs[found.condition ?? ''] ?? 'served on';
  return `The session that there is is ${what} until ${String(found.expiresAt)}; ${nextOf(found, nowMs)}`;
}

const nextOf = (merchant: ListedMerchant, nowMs: number): string =>
  nextText(merchant, nowMs).replace(/^attempt /, 'next attempt ');

interface Silence {
  readonly why: NoAnswer;
  readonly error: AskFault;
}

/** If no replica was asked, the outcome is the gravest of the faults that kept the request from them. */
function unreached(merchant: string, { place, notAsked }: Wish, { why, error }: Silence): Report {
  const mayBeDone = !cameToNoBroker(why);
  const { message } = error;
  const text = `${placeName(place)}: ${message}`;
  const others = mayBeDone ? [] : notAsked;
  const remedies = new Set([...others.map((one) => one.error), error].flatMap(({ remedy }) => remedy ?? []));
  const gravest = gravestOf([...others, why].map(({ fault }) => fault)) ?? why.fault;
  return {
    lines: [
      ...(mayBeDone
        ? [
            `no answer   ${text}`,
            `What was sent may have been carried out: session-broker status shows whether ${merchant} has a newer session`,
          ]
        : [`not asked   ${text}`]),
      ...[...remedies].map((remedy) => `What to do: ${remedy}`),
    ],
    json: { merchant, error, mayBeDone },
    exitCode: exitCodes[gravest],
  };
}

const isRenewed = ({ status, body }: ReplicaAnswer): boolean =>
  status === 200 && typeof body['generation'] === 'number';

/** What answered is not a broker API, so nothing that it says is about the merchant. */
function misled(merchant: string, place: ReplicaPlace, answer: ReplicaAnswer): Report {
  const { status, body } = answer;
  const code = ownCodeOf(answer);
  const message = said(body['detail']) ?? said(body['title']) ?? NO_BROKER;
  const remedy = addressRemedy(place);
  const error: AskFault = { code: code ?? askFaultCodes.wrongAddress, message, status, remedy };
  return {
    lines: [
      `Not renewed ${merchant}: ${message} [HTTP ${status}${code === undefined ? '' : `, ${code}`}]`,
      `What to do: ${remedy}`,
    ],
    json: { merchant, error },
    exitCode: exitCodes.invalidInput,
  };
}

function renewed(merchant: string, body: ReplicaAnswer['body']): Report {
  const { result, generation, expiresAt, clientKeyThumbprint, retryInSeconds } = body;
  const again = typeof retryInSeconds === 'number' ? `; ask again in ${retryInSeconds} s for another one` : '';
  const what =
    result === 'just_renewed' ? `is new already: it was created within the last ten seconds${again}` : 'was created';
  return {
    lines: [
      `session     of ${merchant} ${what}`,
      `generation  ${String(generation)}`,
      `expires at  ${String(expiresAt)}`,
      `client key  ${String(clientKeyThumbprint)}`,
    ],
    json: { merchant, result, generation, expiresAt, clientKeyThumbprint, retryInSeconds },
  };
}

/**
 * Who may end the session that was created: someone else who created sessions before, or another replica with another
 * key.
 */
function noteOf(listed: ListedMerchant): string | undefined {
  const others =
    'somebody else created sessions of the merchant, and may end this one, too (runbook: foreign-authorizer)';
  if (isOfOthers(listed)) return others;
  return listed.condition === 'watched' ? causeText(listed) : undefined;
}

/**
 * The created session may be ended again, or may not be shared with any other replica; and a session that is too new to
 * be replaced may be the one that payments fail with.
 */
function withOutlook(report: Report, wasThere: boolean, listed: ListedMerchant | undefined): Report {
  if (listed === undefined || isWell(listed)) return report;
  const isDone = !wasThere || listed.condition === 'watched';
  const note = isDone ? noteOf(listed) : undefined;
  if (note !== undefined) return { ...report, lines: [...report.lines, `note        ${note}`] };
  if (isDone && listed.condition !== 'unshared') return report;
  const cause = causeText(listed);
  if (cause === undefined) return report;
  return {
    ...report,
    lines: [...report.lines, `but         ${cause}`],
    exitCode: exitCodes.tryLater,
  };
}

const said = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

interface Refusal {
  readonly answer: ReplicaAnswer;
  /** What is wrong with the merchant's name. */
  readonly fault: NameFault | undefined;
  readonly hasToken: boolean;
  /** What follows, one line each. */
  readonly outlook: readonly string[];
  /** As the broker lists the merchant after a failed attempt. */
  readonly listed: ListedMerchant | undefined;
  readonly now: Instant;
}

function refused(merchant: string, refusal: Refusal): Report {
  const { answer, fault, outlook, listed } = refusal;
  const { status, body } = answer;
  const [code, reason, cause, detail, title] = ['code', 'reason', 'cause', 'detail', 'title'].map((name) =>
    said(body[name]),
  );
  const remedy = remedyOf(refusal);
  const why = fault?.problem ?? cause ?? detail ?? title ?? NO_BROKER;
  return {
    lines: [
      `Not renewed ${merchant}: ${why} [HTTP ${status}${code === undefined ? '' : `, ${code}`}]`,
      ...outlook,
      ...supportLines(listed),
      `What to do: ${remedy}`,
    ],
    json: {
      merchant,
      error: {
        code: code ?? askFaultCodes.unexpected,
        message: why,
        status,
        reason,
        remedy,
        runbook: status < 500 ? undefined : pageFor(reason, listed),
        ...supportOf(listed),
      },
      ...momentsOf(listed),
    },
    exitCode: exitCodes[fault?.fault ?? classOf(status, reason, listed)],
  };
}

/** The id by which the bank's support knows the last attempt. */
function supportOf(listed: ListedMerchant | undefined): { readonly gatewayRequestId?: string } {
  const gatewayRequestId = listed === undefined ? undefined : supportId(listed);
  return gatewayRequestId === undefined ? {} : { gatewayRequestId };
}

function supportLines(listed: ListedMerchant | undefined): readonly string[] {
  const text = listed === undefined ? undefined : supportText(listed);
  return text === undefined ? [] : [text];
}

/** As in `GET /v1/merchants`: until when there is a session, and when the next attempt comes. */
function momentsOf(listed: ListedMerchant | undefined): Partial<ListedMerchant> {
  const { expiresAt, renewAt, retryAt } = listed ?? {};
  return {
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(renewAt === undefined ? {} : { renewAt }),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

const ofStatus: Readonly<Record<number, string>> = {
  403: 'have session:renew granted to this caller, or use the token of one that has it',
  404: NAME_A_MERCHANT,
  429: 'ask again in a moment',
};

function remedyOf({ answer: { status, body }, fault, hasToken, listed, now }: Refusal): string {
  if (fault?.fault === 'invalidInput') return NAME_A_MERCHANT;
  if (status === 401) return tokenRemedy(hasToken);
  if (status < 500) return ofStatus[status] ?? 'look at the address: session-broker status says what answers there';
  const reason = said(body['reason']);
  const page = pageFor(reason, listed);
  if (page === undefined) return 'ask again; session-broker status shows what is the matter';
  if (reason !== 'budget_exhausted') return `go on with runbook: ${page}`;
  return spentBudgetRemedy({
    cause: said(body['cause']),
    page,
    listed,
    isSpentOnFailures: isSpentOnFailures(listed),
    now,
  });
}

const isSpentOnFailures = (listed: ListedMerchant | undefined): boolean =>
  listed?.lastFailure !== undefined && !isOfOthers(listed);

/**
 * Someone else created sessions and still does, or may still do so: `session-broker status` has a word for each case.
 */
const isOfOthers = ({ condition = '', runbook }: ListedMerchant): boolean =>
  condition === 'foreign_authorizer' || (condition === 'watched' && runbook !== 'unopenable-records');

/**
 * A merchant that looks well may have a note, and an unavailable store is not the merchant's fault: neither the note
 * nor the merchant refused this request.
 */
function pageFor(reason: string | undefined, listed: ListedMerchant | undefined): string | undefined {
  const isOfMerchant = !isOfStore(reason) && listed !== undefined && !isWell(listed);
  return (isOfMerchant ? listed.runbook : undefined) ?? pageOf(reason);
}

const isOfStore = (reason: string | undefined): boolean => reason === 'store_silent' || reason === 'store_refuses';

/** For lasting reasons: while the store is unavailable, a merchant that is served has no cause of its own. */
function pageOf(reason: string | undefined): string | undefined {
  const lasting = ['budget_exhausted', 'store_silent', 'store_refuses'] as const;
  const found = lasting.find((one) => one === reason);
  return found === undefined ? undefined : unavailableReasons[found].runbook;
}

function classOf(status: number, reason: string | undefined, listed: ListedMerchant | undefined): ExitClass {
  if (status < 500 && status !== 429) return status === 400 ? 'invalidInput' : 'refused';
  if (!isOfStore(reason) && listed !== undefined && isMisaddressed(listed)) return 'invalidInput';
  return classOfFailure(reason);
}
