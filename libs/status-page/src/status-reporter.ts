import type { Clock } from '#libs/clock';
import type { EventLoopLag } from './event-loop-lag.js';
import { type FailureElsewhere, type GatewayHealth, isOfGateway, MAX_GATEWAYS } from './gateway-health.js';
import { merchantStatus, type MerchantStatusParts } from './merchant-status.js';
import type { MerchantSurvey } from './merchant-survey.js';
import type { StatusCondition, StatusDocument, StatusReplica } from './status-document.js';
import type { ReplicaCondition } from './status-source.js';
import type { StoreHealth } from './store-health.js';

/** Merchants in one document: more than anyone reads, and a bound on what every viewer is sent each second. */
export const MAX_LISTED = 100;

/** What this replica says about itself without being asked. */
interface ReplicaFacts {
  readonly name: string;
  readonly startedAt: number;
  readonly condition: () => ReplicaCondition;
  readonly viewers: () => number;
  readonly residentBytes: () => number;
}

interface ReporterParts extends MerchantStatusParts {
  readonly clock: Clock;
  readonly survey: MerchantSurvey;
  readonly gateways: GatewayHealth;
  readonly store: StoreHealth;
  readonly lag: EventLoopLag;
  readonly facts: ReplicaFacts;
}

/** What a viewer searches for; an absent member matches everything. */
export interface StatusSearch {
  /** A part of the merchant's id. */
  readonly text?: string;
  readonly condition?: StatusCondition;
}

/** Describes the state of this replica, as far as everyone who can reach the management port may know it. */
export class StatusReporter {
  readonly #parts: ReporterParts;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  report({ text = '', condition }: StatusSearch = {}): StatusDocument {
    const { clock, survey, gateways, store } = this.#parts;
    const { merchants, counts, hosts } = survey.look();
    const matching = merchants.filter(
      (merchant) => merchant.id.includes(text) && (condition === undefined || merchant.condition === condition),
    );
    const judged = gateways.describe(hosts, this.#failuresElsewhere(merchants));
    return {
      at: clock.now(),
      replica: this.#replica(),
      store: store.describe(),
      gateways: judged.slice(0, MAX_GATEWAYS),
      furtherGateways: Math.max(0, judged.length - MAX_GATEWAYS),
      counts,
      matching: matching.length,
      merchants: matching.slice(0, MAX_LISTED).map(({ id }) => merchantStatus(this.#parts, id, survey.conditionOf(id))),
    };
  }

  /**
   * For the merchants that are worst off: failures that are still current and did not happen to a call of this replica.
   * A failure from before its start may have happened to the previous process.
   */
  #failuresElsewhere(merchants: readonly { readonly id: string }[]): readonly FailureElsewhere[] {
    const { replica, history, facts } = this.#parts;
    return merchants.slice(0, MAX_LISTED).flatMap(({ id }) => {
      const failure = replica.failureOf(id);
      if (failure === undefined || failure.at < facts.startedAt || !isOfGateway(failure)) return [];
      // If a call is under way, its failure is recorded before it is reported.
      const isOwn = replica.isRenewing(id) || history.hasFailedSince(id, failure.at);
      return isOwn ? [] : [{ merchant: id, failure }];
    });
  }

  #replica(): StatusReplica {
    const { facts, lag } = this.#parts;
    const { version, ready, storeReached, shuttingDown, watchers, ...changes } = facts.condition();
    const { refusedChange, awaitingRestart, awaitingSince, restartAdvice } = changes;
    return {
      name: facts.name,
      version,
      startedAt: facts.startedAt,
      ready,
      storeReached,
      shuttingDown,
      ...(refusedChange === undefined
        ? {}
        : { refusedChange: { since: refusedChange.since, faults: refusedChange.faults, text: refusedChange.text } }),
      ...(awaitingRestart === undefined ? {} : { awaitingRestart }),
      ...(awaitingSince === undefined ? {} : { awaitingSince }),
      ...(restartAdvice === undefined
        ? {}
        : { restartAdvice: { text: restartAdvice.text, runbook: restartAdvice.runbook } }),
      watchers,
      viewers: facts.viewers(),
      residentBytes: facts.residentBytes(),
      eventLoopLagMs: { latest: inTenths(lag.latestMs), worst: inTenths(lag.worstMs) },
    };
  }
}

function inTenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
