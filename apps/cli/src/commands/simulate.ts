import { formatDuration } from '#libs/clock';
import { readSchedule, type Schedule } from '#libs/configuration';
import { chosenMerchant } from '../chosen-merchant.js';
import { demandKind } from '../file-kind.js';
import type { Report } from '../report.js';
import { warningsOf } from '../simulate/advice.js';
import { isBeyondAnySetting, sufficientLead, tryChanges } from '../simulate/changes.js';
import { figuresOf } from '../simulate/figures.js';
import type { Judged } from '../simulate/judged.js';
import { MAX_RENEWALS, outageWarning } from '../simulate/limits-of-a-run.js';
import { lifetimeOf, type Plan, planOf, refusal, type SimulateOptions } from '../simulate/plan.js';
import { warningsOfAll } from '../simulate/merchants-alike.js';
import { linesOf, type PlayedMerchant, type ShownNight } from '../simulate/printed-figures.js';
import { renewalDays } from '../simulate/renewal-days.js';
import { simulate, type SimulationLog, type SimulationSetup } from '../simulate/simulation.js';
import { linesOfSum, sumOf } from '../simulate/sum-of-merchants.js';
import { outageBeganIn, type WorseNight, worseNight } from '../simulate/worse-night.js';
import type { CommandContext } from '../terminal.js';

export type { SimulateOptions } from '../simulate/plan.js';

/** More blocks than this nobody reads: those of merchants without a warning are left out then. */
const MAX_SHOWN_MERCHANTS = 20;
/** Of lifetimes in a run that is played again, up to 76 times, for advice. */
const MAX_RENEWALS_TO_REPEAT = 2_000;
/** So many merchants get advice of their own; more tell the same. */
const MAX_ADVISED_MERCHANTS = 5;

type Merchant = Schedule['merchants'][number];

interface Played {
  readonly log: SimulationLog;
  readonly judged: Judged;
  readonly shown: PlayedMerchant & Pick<Judged, 'notPlayed'> & { readonly gatewayTimeoutMs: number };
}

/**
 * Plays the renewals of a configuration on virtual time, with the broker's own renewer and a gateway that behaves as
 * the options say. Reads the configuration alone: none of the files that it names need exist, and no secret be set.
 * @throws ConfigurationError, BrokerError `invalid_request` or `merchant_not_found`
 */
export async function simulateSchedule(options: SimulateOptions, { environment }: CommandContext): Promise<Report> {
  await demandKind(options.config, environment, {
    kind: 'broker',
    otherwise: ', which renews nothing: name that of its broker',
  });
  const { merchants, store } = await readSchedule(options.config, environment);
  const chosen = options.merchant === undefined ? merchants : [chosenMerchant(merchants, options.merchant)];
  const plan = planOf(options, store.type);
  const setups = setupsOf(chosen, options, plan);
  const played: Played[] = [];
  for (const setup of setups) {
    const advised = played.filter(({ judged }) => judged.tried !== undefined).length;
    played.push(
      await play(setup, { isFallback: options.lifetime === undefined, isAdvised: advised < MAX_ADVISED_MERCHANTS }),
    );
  }
  const sum = sumOf(
    played.map(({ log, judged: { figures, worseNight: worse } }) => ({ ...log, figures, worse: worse?.figures })),
    plan.durationMs,
  );
  return {
    lines: [
      headlineOf(plan),
      ...shownOf(played).flatMap(({ shown }) => linesOf(shown)),
      ...(played.length > 1 ? linesOfSum(sum) : []),
    ],
    json: { ...plan, ...(played.length > 1 ? { sum } : {}), merchants: played.map(({ shown }) => shown) },
    warnings: [...storeWarningsOf(plan), ...warningsOfAll(played.map(({ judged }) => judged))],
  };
}

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

async function play(
  setup: SimulationSetup,
  { isFallback, isAdvised }: { readonly isFallback: boolean; readonly isAdvised: boolean },
): Promise<Played> {
  const { settings, behaviour, merchant } = setup;
  const log = await simulate(setup);
  const judged = { ...(await judge(setup, log, isAdvised)), isOneOfMany: !isAdvised };
  const { figures, notPlayed, worseNight: worse } = judged;
  const { quietHours } = settings;
  return {
    ...{ log, judged },
    shown: {
      merchant,
      isFallback,
      lifetimeMs: behaviour.lifetimeMs,
      gatewayTimeoutMs: settings.gatewayTimeoutMs,
      ...figures,
      ...(notPlayed !== undefined && { notPlayed }),
      ...outageBeganIn(log, setup),
      ...(worse && { worseNight: shownNight(worse) }),
      ...(quietHours && { quietHours, days: renewalDays(log, quietHours) }),
    },
  };
}

async function judge(setup: SimulationSetup, log: SimulationLog, isAdvised: boolean): Promise<Judged> {
  const { settings, behaviour, durationMs } = setup;
  const figures = figuresOf(log, durationMs, settings);
  const judged = { setup, figures, ...outageWarning(log, setup) };
  if (durationMs / behaviour.lifetimeMs > MAX_RENEWALS_TO_REPEAT) return judged;
  const worse = judged.notPlayed === undefined ? await worseNight(setup, figures) : undefined;
  const whole = { ...judged, ...(worse && { worseNight: worse }) };
  return isAdvised && figures.sessions > 0 ? { ...whole, ...(await advice(whole)) } : whole;
}

const shownNight = ({ setup, figures, outageBegan }: WorseNight): ShownNight => ({
  ...{ withoutSessionMs: figures.withoutSessionMs, outageBegan, durationMs: setup.durationMs },
});

async function advice(judged: Judged): Promise<Pick<Judged, 'tried' | 'leadShare'>> {
  const { setup, figures } = { ...judged, ...judged.worseNight };
  const hasGap = figures.withoutSessionMs > 0 || figures.pastMarginMs > 0;
  const leadShare = judged.figures.leadTimeShort === undefined ? undefined : await sufficientLead(judged.setup);
  return {
    ...(hasGap && !isBeyondAnySetting(setup, figures) ? { tried: await tryChanges(setup, figures) } : {}),
    ...(leadShare === undefined ? {} : { leadShare }),
  };
}

function shownOf(played: readonly Played[]): readonly Played[] {
  if (played.length <= MAX_SHOWN_MERCHANTS) return played;
  return played.filter(({ judged }) => warningsOf(judged).length > 0).slice(0, MAX_SHOWN_MERCHANTS);
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
