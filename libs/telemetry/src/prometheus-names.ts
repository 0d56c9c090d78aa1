/** The units that are measured in, as Prometheus writes them out at the end of a name. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['s', 'seconds'],
  ['By', 'bytes'],
]);

const NOT_OF_A_NAME = /[^a-zA-Z0-9_]/g;

/**
 * The name that Prometheus gives an instrument when it gets it by OTLP, without the `_total` of a counter: the unit is
 * written out at the end unless it stands there. A scrape shows the same name, so that a query finds a metric whichever
 * way it came.
 */
export function familyOf({ name, unit }: { readonly name: string; readonly unit: string }): string {
  const plain = nameOf(name);
  const suffix = unitOf(unit);
  return suffix === undefined || plain.endsWith(`_${suffix}`) ? plain : `${plain}_${suffix}`;
}

/** @returns undefined for what is only counted */
export function unitOf(unit: string): string | undefined {
  return UNITS.get(unit);
}

/** Of a metric or a label: dots become underscores. */
export function nameOf(name: string): string {
  return name.replace(NOT_OF_A_NAME, '_');
}
