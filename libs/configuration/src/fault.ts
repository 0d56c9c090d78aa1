import { BrokerError } from '#libs/errors';

/**
 * One thing that is wrong. Neither member quotes a value, because a value may be a secret. It may say where a file was
 * looked for if the text is clearly a path (`shownPath`).
 */
export interface Fault {
  /** Where in the file, e.g. `merchants[0].gateway.baseUrl`; `(file)` for the file as a whole. */
  readonly path: string;
  /** What is wrong there and what to do about it, to be read after the path. */
  readonly problem: string;
  /** The line of the configuration file, from 1; absent if no line is to blame. */
  readonly line?: number;
}

/** Where each path is in the configuration file; `order` counts up with the file. */
export type Places = ReadonlyMap<string, { readonly order: number; readonly line: number | undefined }>;

/** Something that does not stop the start but that the operator should know. */
export type Warning = Fault;

export const WHOLE_FILE = '(file)';

/** More than anyone reads in one go; a file full of nonsense would otherwise produce just as much nonsense in reply. */
export const MAX_FAULTS = 200;

/** The configuration cannot be used. Carries every fault that was found, in the order of the file. */
export class ConfigurationError extends BrokerError {
  readonly faults: readonly Fault[];
  /** Not everything was checked or reported: more may be found once these are fixed. */
  readonly hasMore: boolean;
  /** Warnings reported along with the faults; empty if nobody asked for them. */
  readonly warnings: readonly Warning[];

  constructor(
    faults: readonly Fault[],
    { hasMore = false, warnings = [] }: Partial<Pick<ConfigurationError, 'hasMore' | 'warnings'>> = {},
  ) {
    const shown = faults.slice(0, MAX_FAULTS);
    super('configuration_invalid', { detail: shown.map((fault) => `${fault.path} ${fault.problem}`).join('; ') });
    this.hasMore = hasMore || faults.length > MAX_FAULTS;
    this.warnings = warnings.slice(0, MAX_FAULTS);
    this.faults = Object.freeze(shown.map((fault) => Object.freeze({ ...fault })));
  }
}

/** The number of faults, and the setting that the first one is about, such as `http.tls.certFile`. */
export function faultsText({ faults, firstFault }: { readonly faults: number; readonly firstFault?: string }): string {
  const first = firstFault === undefined ? '' : `: ${firstFault}`;
  return faults === 1 ? `1 fault${first}` : `${faults} faults${first && `, the first${first}`}`;
}

/** The path of a member: `http` + `port` is `http.port`, `merchants` + 0 is `merchants[0]`. */
export function childPath(parent: string, child: string | number): string {
  if (typeof child === 'number') return `${parent}[${child}]`;
  return parent === '' ? child : `${parent}.${child}`;
}

/** The first fault of each path, without those below a path that is itself faulty: they only follow from it. */
export function withoutFollowers(faults: readonly Fault[]): Fault[] {
  const first = new Map(faults.toReversed().map((fault) => [fault.path, fault]));
  return faults.filter(
    (fault) => first.get(fault.path) === fault && !ancestorsOf(fault.path).some((each) => first.has(each)),
  );
}

/** Whether a path is at or below that of a fault: anything said of it would only follow. */
export function faultyAmong(causes: readonly Fault[]): (path: string) => boolean {
  const paths = new Set(causes.map((cause) => cause.path));
  return (path) => [path, ...ancestorsOf(path)].some((each) => paths.has(each));
}

/** Sorts by where the paths are in the file; a missing setting sorts to the start of the section that lacks it. */
export function inOrderOf<Item extends { readonly path: string }>(places: Places, items: readonly Item[]): Item[] {
  const orderOf = new Map(items.map((item) => [item, placeOf(item.path, places)?.order ?? -1]));
  return items.toSorted((a, b) => (orderOf.get(a) ?? 0) - (orderOf.get(b) ?? 0));
}

/** In file order, each with its line; a missing setting gets the line where the section that lacks it begins. */
export function located<Item extends Fault>(places: Places, faults: readonly Item[]): Item[] {
  return inOrderOf(places, faults).map((fault) => {
    const line = placeOf(fault.path, places)?.line;
    return line === undefined ? fault : { ...fault, line };
  });
}

function placeOf(path: string, places: Places): ReturnType<Places['get']> {
  return [path, ...ancestorsOf(path).reverse()].map((each) => places.get(each)).find((place) => place !== undefined);
}

function ancestorsOf(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}
