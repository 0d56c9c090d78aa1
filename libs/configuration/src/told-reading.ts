import { someOf } from '#libs/errors';

type Line = (fields: object, message: string) => void;

/** As much of a log as is needed here. */
export interface ReloadLogger {
  readonly debug: Line;
  readonly info: Line;
  readonly warn: Line;
  readonly error: Line;
}

/** The consequences of reading changed files, by name only, never by value. */
export interface ToldReading {
  /** What came into force: names grouped by what happened to them, such as `added` or `settings`. */
  readonly inForce: Readonly<Record<string, readonly string[]>>;
  /** Settings that differ from those in force until the next start. */
  readonly waiting: {
    readonly settings: readonly string[];
    /** Changes since the last report: each set is reported once, not with every file that changes afterwards. */
    readonly change: { readonly added: readonly string[]; readonly removed: readonly string[] };
    /** The page of docs/runbooks that says what to do. */
    readonly runbook: string;
  };
  readonly wasRefused: boolean;
}

const WAIT = 'take effect with the next start';

/** Reports in one line which parts of a changed configuration are in force now, and which are not. */
export function tellReading(logger: ReloadLogger, { inForce, waiting, wasRefused }: ToldReading): void {
  const { settings, change, runbook } = waiting;
  if (change.removed.length > 0) {
    logger.info(
      { settings: someOf(change.removed) },
      'these settings are again what is in force; no restart is needed for them',
    );
  }
  const hasChanged = Object.values(inForce).some((names) => names.length > 0);
  const named = Object.fromEntries(Object.entries(inForce).map(([what, names]) => [what, someOf(names)]));
  const fields = { ...(hasChanged ? named : {}), ...waitingFields(settings) };
  if (change.added.length > 0) {
    const what = hasChanged
      ? 'the changed configuration is in force, but for settings that'
      : 'these settings have changed and';
    const again = wasRefused && !hasChanged ? 'the configuration is right again; ' : '';
    logger.warn({ ...fields, runbook }, `${again}${what} ${WAIT}`);
  } else if (hasChanged) {
    logger.info(fields, 'the changed configuration is in force');
  } else if (wasRefused) {
    logger.info(fields, 'the configuration is right again; nothing has changed');
  } else {
    logger.debug(fields, 'the configuration was read again and says the same');
  }
}

const waitingFields = (settings: readonly string[]): object =>
  settings.length === 0 ? {} : { awaitingRestart: someOf(settings) };
