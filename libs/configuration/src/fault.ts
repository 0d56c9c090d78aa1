import { BrokerError } from '#libs/errors';

/**
 * One thing that is wrong. Neither member quotes a value: a value may be a secret. What is told is how a number with a
 * unit, or the address of a gateway, would be right, and where a file was looked for by what is a path (`shownPath`).
 */
export interface Fault {
  /** Where in the file, e.g. `merchants[0].gateway.baseUrl`; `(file)` for the file as a whole. */
  readonly path: string;
  /** What is wrong there and what to do about it, to be read behind the path. */
  readonly problem: string;
  /** Of the configuration file, from 1; absent where no line of it is to blame. */
  readonly line?: number;
}

/** Where something stands in the configuration file. */
export interface Place {
  /** Counts up with the file. */
  readonly order: number;
  readonly line: number | undefined;
}

/** What settings say against each other. */
export interface CrossFault extends Fault {
  /** Settings one of which would be enough: if any of them has a fault of its own, this one only follows from it. */
  readonly unlessFaulty?: readonly string[];
  /** How it is told where a setting that it is about is not written in the file, but stands at its default. */
  readonly ofDefault?: { readonly path: string; readonly problem: string };
}

/** Something that does not stop the start but that the operator should know. */
export type Warning = Fault;

export const WHOLE_FILE = '(file)';

/** More than a person reads in one go; a file of nonsense would otherwise answer with as much nonsense. */
const MAX_FAULTS = 200;

/**
 * More than a person will ever see, and no reason to look any further: each fault is weighed against the others, and a
 * long list of what is no setting would keep the event loop busy with them.
 */
export const MAX_FAULTS_FOUND = 10 * MAX_FAULTS;

interface BesideFaults {
  readonly hasMore?: boolean;
  readonly warnings?: readonly Warning[];
}

/** The configuration cannot be used. Carries every fault that was found, in the order of the file. */
export class ConfigurationError extends BrokerError {
  readonly faults: readonly Fault[];
  /** Not all was looked at, or told: more may be found once these are fixed. */
  readonly hasMore: boolean;
  /** What could be told beside them; empty where nobody asked. */
  readonly warnings: readonly Warning[];

  constructor(faults: readonly Fault[], { hasMore = false, warnings = [] }: BesideFaults = {}) {
    const shown = faults.slice(0, MAX_FAULTS);
    super('configuration_invalid', { detail: shown.map((fault) => `${fault.path} ${fault.problem}`).join('; ') });
    this.hasMore = hasMore || faults.length > MAX_FAULTS;
    this.warnings = warnings.slice(0, MAX_FAULTS);
    this.faults = Object.freeze(shown.map((fault) => Object.freeze({ ...fault })));
  }
}

/** How many faults there are, and the setting that the first of them is about, such as `http.tls.certFile`. */
export function faultsText({ faults, firstFault }: { readonly faults: number; readonly firstFault?: string }): string {
  const count = faults === 1 ? '1 fault' : `${faults} faults`;
  if (firstFault === undefined) return count;
  return faults === 1 ? `${count}: ${firstFault}` : `${count}, the first: ${firstFault}`;
}

/** The path of a member: `http` + `port` is `http.port`, `merchants` + 0 is `merchants[0]`. */
export function childPath(parent: string, child: string | number): string {
  if (typeof child === 'number') return `${parent}[${child}]`;
  return parent === '' ? child : `${parent}.${child}`;
}

/** The first fault of each path, without those below a path that is itself faulty: they only follow from it. */
export function withoutFollowers(faults: readonly Fault[]): Fault[] {
  const first = new Map<string, Fault>();
  for (const fault of faults) if (!first.has(fault.path)) first.set(fault.path, fault);
  const paths = new Set(faults.map((fault) => fault.path));
  return [...first.values()].filter((fault) => !ancestorsOf(fault.path).some((ancestor) => paths.has(ancestor)));
}

/** The faults that are neither at nor below the path of one of `causes`, and do not follow from one otherwise. */
export function notCausedBy(causes: readonly Fault[], faults: readonly CrossFault[]): Fault[] {
  const paths = new Set(causes.map((cause) => cause.path));
  const isFaulty = (path: string): boolean => [path, ...ancestorsOf(path)].some((each) => paths.has(each));
  return faults
    .filter(({ path, unlessFaulty = [] }) => ![path, ...unlessFaulty].some(isFaulty))
    .map(({ path, problem }) => ({ path, problem }));
}

/** Sorts by where the paths stand in the file; what is missing comes where the section that lacks it begins. */
export function inOrderOf<Item extends { readonly path: string }>(
  places: ReadonlyMap<string, Place>,
  items: readonly Item[],
): Item[] {
  return items
    .map((item) => ({ item, order: placeOf(item.path, places)?.order ?? -1 }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** In the order of the file, each with its line; what is missing has the line where the section that lacks it begins. */
export function located<Item extends Fault>(places: ReadonlyMap<string, Place>, faults: readonly Item[]): Item[] {
  return inOrderOf(places, faults).map((fault) => {
    const line = placeOf(fault.path, places)?.line;
    return line === undefined ? fault : { ...fault, line };
  });
}

function placeOf(path: string, places: ReadonlyMap<string, Place>): Place | undefined {
  return [path, ...ancestorsOf(path).reverse()].map((each) => places.get(each)).find((place) => place !== undefined);
}

function ancestorsOf(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}
