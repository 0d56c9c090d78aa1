import { formatDuration } from '#libs/clock';
import { readSchedule } from '#libs/configuration';
import { chosenMerchant } from '../chosen-merchant.js';
import type { Report } from '../report.js';
import { figuresOf, type Played, sumOfMerchants } from '../simulate/figures.js';
import { type Plan, planOf, setupsOf, type SimulateOptions } from '../simulate/plan.js';
import { linesOf, linesOfSum, type PlayedMerchant } from '../simulate/printed-figures.js';
import type { SimulationSetup } from '../simulate/played-gateway.js';
import { simulate } from '../simulate/simulation.js';
import { renewalDays } from '../simulate/timeline.js';
import { isWarnedOf, outageNotPlayed, warningsOf } from '../simulate/warnings.js';
import type { CommandContext } from '../terminal.js';

export type { SimulateOptions } from '../simulate/plan.js';

/** Nobody reads more: beyond this, the blocks of merchants without a warning are left out. */
const MAX_SHOWN = 20;
/** Nothing else is known about the lifetime, because the gateway is not asked. */
const ASSUMED_LIFETIMES =
  'assumed      every session lives for session.fallbackLifetime: give --lifetime if `doctor --create-session` shows another one';

/**
 * Plays the renewals of a configuration in virtual time, with the broker's own renewer and a gateway that behaves as
 * the options say. Reads only the configuration: the files that it names need not exist, and no secret need be set.
 * @throws ConfigurationError, BrokerError `invalid_request` or `merchant_not_found`
 */
export async function simulateSchedule(
  options: SimulateOptions,
  { environment, terminal }: CommandContext,
): Promise<Report> {
  const { merchants, store } = await readSchedule(options.config, environment);
  const chosen = options.merchant === undefined ? merchants : [chosenMerchant(merchants, options.merchant)];
  const plan = planOf(options, store.type);
  const all = await playAll(setupsOf(chosen, options, plan), (text) => {
    if (options.json !== true) terminal.progress?.(text);
  });
  const isFallback = options.lifetime === undefined;
  const sum = all.length > 1 ? sumOfMerchants(all, plan.durationMs) : undefined;
  const shown = all.length > MAX_SHOWN ? all.filter(isWarnedOf).slice(0, MAX_SHOWN) : all;
  return {
    lines: [
      headlineOf(plan),
      ...(isFallback ? [ASSUMED_LIFETIMES] : []),
      ...shown.flatMap((played) => linesOf(shownAs(played, isFallback))),
      ...(sum ? linesOfSum(sum) : []),
    ],
    json: { ...plan, ...(sum && { sum }), merchants: all.map((played) => shownAs(played, isFallback)) },
    warnings: [...storeWarningsOf(plan), ...warningsOf(all)],
  };
}

/** @param tell what is being played now; empty at the end */
async function playAll(setups: readonly SimulationSetup[], tell: (text: string) => void): Promise<readonly Played[]> {
  const all: Played[] = [];
  try {
    for (const [index, setup] of setups.entries()) {
      const which = setups.length === 1 ? '' : `, ${index + 1} of ${setups.length} merchants`;
      tell(`playing ${setup.merchant}${which} …`);
      const log = await simulate(setup);
      all.push({ setup, log, figures: figuresOf(log, setup) });
    }
  } finally {
    tell('');
  }
  return all;
}

function shownAs(played: Played, isFallback: boolean): PlayedMerchant {
  const { setup, log, figures } = played;
  const { settings, behaviour, merchant } = setup;
  const { quietHours, gatewayTimeoutMs } = settings;
  const [notPlayed] = outageNotPlayed(played) ?? [];
  return {
    ...{ merchant, isFallback, gatewayTimeoutMs, lifetimeMs: behaviour.lifetimeMs },
    ...figures,
    ...(notPlayed !== undefined && { notPlayed }),
    ...(quietHours && { quietHours, days: renewalDays(log, quietHours) }),
  };
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
