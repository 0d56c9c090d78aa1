import { formatDuration } from '#libs/clock';
import { readSchedule, type Schedule } from '#libs/configuration';
import { chosenMerchant } from '../chosen-merchant.js';
import { demandKind } from '../file-kind.js';
import type { Report } from '../report.js';
import { warningsOf } from '../simulate/advice.js';
import { blockOf } from '../simulate/alike-figures.js';
import { figuresOf, isHarmless } from '../simulate/figures.js';
import { outageBeganIn } from '../simulate/hardest-nights.js';
import { judge } from '../simulate/judge.js';
import {
  areShorter,
  gapOfOthers,
  hardestHit,
  type Judged,
  type Member,
  pastMarginOfOthers,
} from '../simulate/judged.js';
import { MAX_RENEWALS, outageWarning } from '../simulate/limits-of-a-run.js';
import { lifetimeOf, type Plan, planOf, refusal, type SimulateOptions } from '../simulate/plan.js';
import { warningsOfAll } from '../simulate/merchants-alike.js';
import { ASSUMED_LIFETIMES, type PlayedMerchant } from '../simulate/printed-figures.js';
import { renewalDays } from '../simulate/renewal-days.js';
import { simulate, type SimulationLog, type SimulationSetup } from '../simulate/simulation.js';
import { linesOfSum, type PartOfSum, sumOf } from '../simulate/sum-of-merchants.js';
import type { CommandContext } from '../terminal.js';

export type { SimulateOptions } from '../simulate/plan.js';

/** Nobody reads more: beyond this, the blocks of merchants without a warning are left out. */
const MAX_SHOWN_BLOCKS = 20;
/** This many merchants, or groups of merchants alike, get their own advice; more would say the same. */
const MAX_ADVISED_GROUPS = 5;

type Merchant = Schedule['merchants'][number];

interface Played extends Member {
  readonly log: SimulationLog;
}

/** Merchants with the same settings. Each is played with its own luck. */
interface PlayedAlike {
  readonly members: readonly Played[];
  readonly judged: Judged;
}

/**
 * Plays the renewals of a configuration in virtual time, with the broker's own renewer and a gateway that behaves as
 * the options say. Reads only the configuration: the files that it names need not exist, and no secret need be set.
 * @throws ConfigurationError, BrokerError `invalid_request` or `merchant_not_found`
 */
export async function simulateSchedule(
  options: SimulateOptions,
  { environment, terminal }: CommandContext,
): Promise<Report> {
  await demandKind(options.config, environment, {
    kind: 'broker',
    otherwise: ', which renews nothing: name that of its broker',
  });
  const { merchants, store } = await readSchedule(options.config, environment);
  const chosen = options.merchant === undefined ? merchants : [chosenMerchant(merchants, options.merchant)];
  const plan = planOf(options, store.type);
  const setups = setupsOf(chosen, options, plan);
  const groups = await playAll(setups, (text) => {
    if (options.json !== true) terminal.progress?.(text);
  });
  const isFallback = options.lifetime === undefined;
  const members = groups.flatMap((group) => group.members);
  const sum = members.length > 1 ? sumOf(members.map(partOfSum), plan.durationMs) : undefined;
  return {
    lines: [
      headlineOf(plan),
      ...(isFallback ? [ASSUMED_LIFETIMES] : []),
      ...shownOf(groups).flatMap((group) => blockOf(shownIn(group, isFallback))),
      ...(sum ? linesOfSum(sum) : []),
    ],
    json: { ...plan, ...(sum && { sum }), merchants: groups.flatMap((group) => shownIn(group, isFallback)) },
    warnings: [...storeWarningsOf(plan), ...warningsOfAll(groups.map(({ judged }) => judged))],
  };
}

const partOfSum = ({ log: { callsAtMs }, figures }: Played): PartOfSum => ({ callsAtMs, figures });

function setupsOf(merchants: readonly Merchant[], options: SimulateOptions, plan: Plan): readonly SimulationSetup[] {
  const setups = merchants.map(({ id, session: settings }) => {
    const lifetimeMs = lifetimeOf(options, settings.fallbackLifetimeMs, plan.durationMs);
    return { ...plan, merchant: id, settings, behaviour: { ...plan, lifetimeMs } };
  });
  const lifetimes = setups.reduce((total, { behaviour }) => total + plan.durationMs / behaviour.lifetimeMs, 0);
  if (lifetimes > MAX_RENEWALS) {
    throw refusal(
      `the ${setups.length} merchants have more than ${MAX_RENEWALS} lifetimes in all: name one with --merchant, or give a shorter --for`,
    );
  }
  return setups;
}

/** Groups in the order of their first members. */
function alikeIn(setups: readonly SimulationSetup[]): readonly (readonly SimulationSetup[])[] {
  const groups = new Map<string, SimulationSetup[]>();
  for (const setup of setups) {
    const { settings, behaviour } = setup;
    const key = JSON.stringify({ settings, behaviour });
    groups.set(key, [...(groups.get(key) ?? []), setup]);
  }
  return [...groups.values()];
}

/** @param tell what is being played now; empty at the end */
async function playAll(
  setups: readonly SimulationSetup[],
  tell: (text: string) => void,
): Promise<readonly PlayedAlike[]> {
  const groups: PlayedAlike[] = [];
  let begun = 0;
  const tellOf = ({ merchant }: SimulationSetup): void => {
    begun += 1;
    tell(
      setups.length === 1 ? `playing ${merchant} …` : `playing ${merchant}, ${begun} of ${setups.length} merchants …`,
    );
  };
  try {
    for (const alike of alikeIn(setups)) {
      const advised = groups.filter(({ judged }) => judged.tried !== undefined).length;
      groups.push(await play(alike, advised < MAX_ADVISED_GROUPS, tellOf));
    }
  } finally {
    tell('');
  }
  return groups;
}

async function play(
  alike: readonly SimulationSetup[],
  isAdvised: boolean,
  tellOf: (setup: SimulationSetup) => void,
): Promise<PlayedAlike> {
  const members: Played[] = [];
  for (const setup of alike) {
    tellOf(setup);
    const log = await simulate(setup);
    const figures = figuresOf(log, setup.durationMs, setup.settings);
    members.push({ setup, log, figures, ...outageWarning(log, setup) });
  }
  return { members, judged: { ...(await judge(members, isAdvised)), isOneOfMany: !isAdvised } };
}

function shownIn({ members, judged }: PlayedAlike, isFallback: boolean): readonly PlayedMerchant[] {
  return members.map(({ setup, log, figures, notPlayed }) => {
    const { settings, behaviour, merchant } = setup;
    const { quietHours, gatewayTimeoutMs } = settings;
    return {
      ...{ merchant, isFallback, gatewayTimeoutMs, lifetimeMs: behaviour.lifetimeMs },
      ...figures,
      ...(notPlayed !== undefined && { notPlayed }),
      ...outageBeganIn(log, setup),
      ...(merchant === judged.setup.merchant && shownOthers(judged)),
      ...(quietHours && { quietHours, days: renewalDays(log, quietHours) }),
    };
  });
}

function shownOthers(judged: Judged): Pick<PlayedMerchant, 'otherRuns'> {
  const { others, setup } = judged;
  if (others === undefined || others.length === 0) return {};
  const [gap, past] = [gapOfOthers(others), pastMarginOfOthers(others)];
  const shown = {
    ...{
      runs: others.length,
      areShorter: areShorter(judged),
      leastWithoutSessionMs: gap.leastMs,
      mostWithoutSessionMs: gap.mostMs,
    },
    ...{ leastPastMarginMs: past.leastMs, mostPastMarginMs: past.mostMs },
  };
  const worst = hardestHit(others);
  if (isHarmless(worst.figures)) return { otherRuns: shown };
  const { durationMs, seed } = worst.setup;
  const began =
    worst.outageEndsAtMs === undefined ? {} : outageBeganIn({ outageEndsAtMs: worst.outageEndsAtMs }, setup);
  return { otherRuns: { ...shown, worst: { durationMs, seed, ...began } } };
}

function shownOf(groups: readonly PlayedAlike[]): readonly PlayedAlike[] {
  if (groups.length <= MAX_SHOWN_BLOCKS) return groups;
  return groups.filter(({ judged }) => warningsOf(judged).length > 0).slice(0, MAX_SHOWN_BLOCKS);
}

function headlineOf({ durationMs, seed, latencyMs, failureShare, outageMs, skewMs, ...plan }: Plan): string {
  const alone = plan.store === 'memory' ? '1 replica (the store is memory, for one alone)' : '1 replica';
  const replicas = plan.replicas === 1 ? alone : `${plan.replicas} replicas`;
  const outage = outageMs === 0 ? 'no outage' : `one outage of ${formatDuration(outageMs)}`;
  const ahead = `, its clock ${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead' : 'behind'}`;
  const gateway = `latency ${formatDuration(latencyMs)}, ${failureShare * 100} % failures, ${outage}${skewMs === 0 ? '' : ahead}`;
  return `simulated    ${formatDuration(durationMs)} of ${replicas} with seed ${seed}; ${gateway}`;
}

function storeWarningsOf({ store, replicas }: Plan): readonly string[] {
  if (store !== 'memory' || replicas === 1) return [];
  return [
    `store.type is memory, which is for one replica alone: the ${replicas} were played as if they shared a Redis`,
  ];
}
