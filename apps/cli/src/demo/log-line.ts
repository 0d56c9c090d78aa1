const CLOCK_TIME = /T(\d{2}:\d{2}:\d{2})/;
/** Shown elsewhere in the line, or useful only to machines. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'level',
  'time',
  'msg',
  'name',
  'pid',
  'hostname',
  'requestId',
  'event',
]);

/**
 * One log line of a service (a JSON object with `level`, `time` and `msg`) as one line for people. Anything else is
 * passed on unchanged.
 */
export function humanLogLine(service: string, line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return `${' '.repeat(9)}${service.padEnd(8)} ${line}`;
  const time = CLOCK_TIME.exec(textOf(entry['time']))?.[1] ?? '';
  const level = entry['level'] === 'info' ? '' : `${textOf(entry['level']).toUpperCase()} `;
  return `${time.padEnd(8)} ${service.padEnd(8)} ${level}${textOf(entry['msg'])}${faultsOf(entry['faults'])}${details(entry)}`;
}

function parseEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function details(entry: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(entry).filter(([key, value]) => !LEFT_OUT.has(key) && textOf(value) !== '');
  return shown.length === 0 ? '' : ` (${shown.map(([key, value]) => `${key} ${textOf(value)}`).join(', ')})`;
}

/** What is wrong with a configuration: without it, people would have to go looking. */
function faultsOf(faults: unknown): string {
  if (!Array.isArray(faults)) return '';
  const told = faults.map(faultOf).filter((fault) => fault !== '');
  return told.length === 0 ? '' : `: ${told.join('; ')}`;
}

function faultOf(fault: unknown): string {
  if (typeof fault !== 'object' || fault === null) return '';
  const { path, problem, line } = fault as Readonly<Record<string, unknown>>;
  const where = line === undefined ? textOf(path) : `${textOf(path)} (line ${textOf(line)})`;
  return `${where} ${textOf(problem)}`.trim();
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const textOf = (value: unknown): string => (isScalar(value) ? String(value) : '');
