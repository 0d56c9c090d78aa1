import { type AskFault, type BrokerFault, faultLines, isFault } from '../broker/broker-fault.js';
import { type AnswerMembers, textIn } from '../broker/answer.js';
import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import type { ReplicaPlace } from '../broker/no-answer.js';
import { ask, placeName, replicaPlaces } from '../broker/replica-call.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface RenewOptions extends BrokerOptions {
  readonly merchant: string;
  readonly json?: true;
}

/** A replica to which the request did not get. */
interface PassedOver {
  readonly place: string;
  readonly error: AskFault;
  readonly fault: ExitClass;
}

/** Someone who sees nothing for longer than this thinks that the command hangs. */
const LONG_MS = 2_000;

/**
 * Has a newer session created now, regardless of the back-off: the others share the session of the replica that is
 * asked. The next one is asked only if the request did not get to the one before, so that it is never made twice.
 * @throws BrokerError `invalid_request` before anything is asked
 */
export async function renew(options: RenewOptions, context: CommandContext): Promise<Report> {
  const { merchant } = options;
  const broker = await brokerPlace(options, context);
  const places = await replicaPlaces(broker.urls);
  const notAsked: PassedOver[] = [];
  for (const url of places) {
    const place = placeName(url);
    const said = await wish({ broker, place: url }, options, context);
    if (isFault(said) && !said.wasAsked) {
      notAsked.push({ place, error: said.error, fault: said.fault });
      continue;
    }
    const report = isFault(said) ? refused(merchant, said) : renewed(merchant, said);
    const passed = notAsked.length === 0 ? [] : [...notAsked.map(passedLine), `asked       ${place}`];
    return { ...report, lines: [...passed, ...report.lines], json: { ...report.json, place, ...toldOf(notAsked) } };
  }
  return unreached(merchant, notAsked);
}

const toldOf = (notAsked: readonly PassedOver[]): object =>
  notAsked.length === 0 ? {} : { notAsked: notAsked.map(({ place, error }) => ({ place, error })) };

async function wish(
  { broker, place }: { readonly broker: BrokerPlace; readonly place: ReplicaPlace },
  { merchant, json }: RenewOptions,
  { clock, signal, terminal }: CommandContext,
): Promise<AnswerMembers | BrokerFault> {
  const waiting = clock.schedule(LONG_MS, () => {
    if (json !== true) terminal.err(`waiting for ${placeName(place)}: a create call can take half a minute`);
  });
  const path = `/v1/merchants/${encodeURIComponent(merchant)}/session/renewal`;
  const read = (body: AnswerMembers): AnswerMembers | undefined =>
    typeof body['generation'] === 'number' ? body : undefined;
  return ask(broker, place, { method: 'POST', path, clock, signal, read }).finally(() => waiting.cancel());
}

const passedLine = ({ place, error }: PassedOver): string => `not reached ${place}: ${error.message}`;

function renewed(merchant: string, body: AnswerMembers): Report {
  const { result, generation, retryInSeconds } = body;
  const [expiresAt, clientKeyThumbprint] = ['expiresAt', 'clientKeyThumbprint'].map((name) => textIn(body, name));
  const again = typeof retryInSeconds === 'number' ? `; for another one, ask again in ${retryInSeconds} s` : '';
  const what = result === 'just_renewed' ? `was created within the last ten seconds already${again}` : 'was created';
  return {
    lines: [
      `session     of ${merchant} ${what}`,
      `generation  ${String(generation)}`,
      `expires at  ${expiresAt}`,
      `client key  ${clientKeyThumbprint}`,
    ],
    json: { merchant, result, generation, expiresAt, clientKeyThumbprint, retryInSeconds },
  };
}

function refused(merchant: string, { error, fault }: BrokerFault): Report {
  const mayBeDone = error.status === undefined;
  const [why, ...remedy] = faultLines(error);
  return {
    lines: [
      `${merchant} was not renewed: ${why}`,
      ...(mayBeDone
        ? [`It may still have been: session-broker status shows whether ${merchant} has a newer session`]
        : []),
      ...remedy,
    ],
    json: { merchant, error, ...(mayBeDone ? { mayBeDone } : {}) },
    exitCode: exitCodes[fault],
  };
}

function unreached(merchant: string, notAsked: readonly PassedOver[]): Report {
  const fault = gravestOf(notAsked.map((one) => one.fault)) ?? 'tryLater';
  const remedies = new Set(notAsked.flatMap(({ error }) => error.remedy ?? []));
  return {
    lines: [...notAsked.map(passedLine), ...[...remedies].map((remedy) => `What to do: ${remedy}`)],
    json: {
      merchant,
      error: notAsked.find((one) => one.fault === fault)?.error,
      mayBeDone: false,
      ...toldOf(notAsked),
    },
    exitCode: exitCodes[fault],
  };
}
