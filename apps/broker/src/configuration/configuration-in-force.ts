import type { Instant } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';

interface RefusedChange {
  /** Since when the files have been refused, whatever else has been changed in them meanwhile. */
  readonly since: Instant;
  /** How many faults the last reading found. */
  readonly faults: number;
  /** The setting that the first fault is about, such as `http.tls.certFile`. */
  readonly firstFault?: string;
}

/** The outcome of rereading changed files, for everything that shows it or listens for it. */
export class LastReading {
  /** Undefined while the files match what is in force, or have not changed since the start. */
  refused: RefusedChange | undefined;
  /** The settings that have changed and only take effect at the next start. */
  awaitingRestart: readonly string[] = [];
  /** Since when there have been any, whatever else has been changed meanwhile. */
  awaitingSince: Instant | undefined;

  noteTaken(awaitingRestart: readonly string[], now: Instant): void {
    this.refused = undefined;
    this.awaitingSince = awaitingRestart.length === 0 ? undefined : (this.awaitingSince ?? now);
    this.awaitingRestart = awaitingRestart;
  }

  noteRefused({ since, ...found }: RefusedChange): void {
    this.refused = { since: this.refused?.since ?? since, ...found };
  }
}

/** What was made for the previous configuration, and that configuration. */
export interface Before<Made> {
  readonly configuration: BrokerConfiguration;
  readonly made: Made;
}

type Maker<Made> = (configuration: BrokerConfiguration, before?: Before<Made>) => Made;

/** Prepares what belongs to the next configuration, and returns a function that puts it in force. */
type Preparation = (next: BrokerConfiguration) => () => void;

/**
 * The configuration that the broker currently uses. No part of it may be kept across an await: by then, another one may
 * be in force. Anything worth keeping is derived, and made anew for each configuration.
 */
export class ConfigurationInForce {
  /** The outcome of rereading the files it comes from. */
  readonly lastReading = new LastReading();
  #current: BrokerConfiguration;
  readonly #preparations: Preparation[] = [];

  constructor(configuration: BrokerConfiguration) {
    this.#current = configuration;
  }

  get current(): BrokerConfiguration {
    return this.#current;
  }

  /**
   * Something made from the configuration, such as an index of it.
   * @param make may look at what it made before, and return that if it is still right
   * @param release called with what was made before, once that is no longer in force
   * @returns what was made for the configuration in force
   */
  derive<Made>(make: Maker<Made>, release?: (before: Made, after: Made) => void): () => Made {
    let made = make(this.#current);
    this.#preparations.push((next) => {
      const nextMade = make(next, { configuration: this.#current, made });
      return () => {
        const before = made;
        made = nextMade;
        release?.(before, nextMade);
      };
    });
    return () => made;
  }

  /** All or nothing: if something cannot be made from the configuration, the error is thrown and nothing changes. */
  replace(next: BrokerConfiguration): void {
    const commits = this.#preparations.map((prepare) => prepare(next));
    this.#current = next;
    for (const commit of commits) commit();
  }
}
