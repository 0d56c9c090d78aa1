import type { Dialect } from './exposition.js';

interface Choice {
  /** Media type or coding, in lower case. */
  readonly name: string;
  readonly version: string | undefined;
  readonly q: number;
}

const VERSIONS: Readonly<Record<Dialect, { readonly name: string; readonly version: string }>> = {
  text: { name: 'text/plain', version: '0.0.4' },
  openmetrics: { name: 'application/openmetrics-text', version: '1.0.0' },
};
/** Enough for any scraper; whatever follows is ignored. */
const MAX_CHOICES = 20;

/** The format that a scraper prefers: OpenMetrics only if it asks for it, the older text in every other case. */
export function dialectFor(accept: string | undefined): Dialect {
  const choices = choicesOf(accept);
  const openmetrics = weight(choices, [(choice) => isOurs(choice, 'openmetrics')]);
  const text = weight(choices, [
    (choice) => isOurs(choice, 'text'),
    ({ name }) => name === 'text/*',
    ({ name }) => name === '*/*',
  ]);
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** Whether an answer may be compressed. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  const choices = choicesOf(acceptEncoding);
  return weight(choices, [({ name }) => name === 'gzip' || name === 'x-gzip', ({ name }) => name === '*']) > 0;
}

function isOurs({ name, version }: Choice, dialect: Dialect): boolean {
  const ours = VERSIONS[dialect];
  return name === ours.name && (version === undefined || version === ours.version);
}

/** The weight of the most specific choice that fits: what is refused by name is not accepted by a wildcard. */
function weight(choices: readonly Choice[], fromSpecific: readonly ((choice: Choice) => boolean)[]): number {
  for (const fits of fromSpecific) {
    const fitting = choices.filter(fits).map(({ q }) => q);
    if (fitting.length > 0) return Math.max(...fitting);
  }
  return 0;
}

function choicesOf(header: string | undefined): readonly Choice[] {
  return (header ?? '').split(',', MAX_CHOICES).map((choice) => {
    const [name = '', ...parameters] = choice.split(';').map((part) => part.trim().toLowerCase());
    return { name, version: valueOf(parameters, 'version'), q: qualityOf(valueOf(parameters, 'q')) };
  });
}

function valueOf(parameters: readonly string[], name: string): string | undefined {
  const parameter = parameters.find((each) => each.startsWith(`${name}=`));
  return parameter?.slice(name.length + 1).replace(/^"(.*)"$/, '$1');
}

/** An unreadable value counts as a refusal. */
function qualityOf(q: string | undefined): number {
  if (q === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(q) ? Number(q) : 0;
}
