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
  /** The variable that is not set, without which the value could not be checked. */
  readonly variable?: string;
}

/** Where each path is in the configuration file; `order` counts up with the file. */
export type Places = ReadonlyMap<string, { readonly order: number; readonly line: number | undefined }>;

export const WHOLE_FILE = '(file)';

/** More than anyone reads in one go; a file full of nonsense would otherwise produce just as much nonsense in reply. */
const MAX_FAULTS = 200;

/** The configuration cannot be used. Carries every fault that was found, in the order of the file. */
export class ConfigurationError extends BrokerError {
  readonly faults: readonly Fault[];
  /** Warnings reported along with the faults; empty if nobody asked for them. */
  readonly warnings: readonly Fault[];

  constructor(faults: readonly Fault[], warnings: readonly Fault[] = []) {
    const shown = faults.slice(0, MAX_FAULTS);
    super('configuration_invalid', { detail: shown.map((fault) => `${fault.path} ${fault.problem}`).join('; ') });
    this.warnings = warnings.slice(0, MAX_FAULTS);
    this.faults = shown;
  }
}

/** The number of faults, and the setting that the first one is about, such as `http.tls.certFile`. */
export function faultsText({
  faults,
  firstFault = '',
}: {
  readonly faults: number;
  readonly firstFault?: string;
}): string {
  const [count, first] = faults === 1 ? ['1 fault', ': '] : [`${faults} faults`, ', the first: '];
  return firstFault === '' ? count : `${count}${first}${firstFault}`;
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

/** In file order, each with its line; a missing setting gets the line where the section that lacks it begins. */
export function located(places: Places, faults: readonly Fault[]): Fault[] {
  const placed = faults.map((fault) => ({ fault, place: placeOf(fault.path, places) }));
  placed.sort((one, other) => (one.place?.order ?? -1) - (other.place?.order ?? -1));
  return placed.map(({ fault, place }) => (place?.line === undefined ? fault : { ...fault, line: place.line }));
}

function placeOf(path: string, places: Places): ReturnType<Places['get']> {
  return [path, ...ancestorsOf(path).reverse()].map((each) => places.get(each)).find((place) => place !== undefined);
}

function ancestorsOf(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}
