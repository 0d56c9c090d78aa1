/** The units in use, as Prometheus writes them out at the end of a name. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['s', 'seconds'],
  ['By', 'bytes'],
]);

const NOT_OF_A_NAME = /[^a-zA-Z0-9_]/g;

/**
 * The name that Prometheus gives an instrument received through OTLP, without the `_total` of a counter: the unit is
 * written out at the end unless it is there already. A scrape shows the same name, so that a query finds a metric
 * whichever way it arrived.
 */
export function familyOf({ name, unit }: { readonly name: string; readonly unit: string }): string {
  const plain = nameOf(name);
  const suffix = unitOf(unit);
  return suffix === undefined || plain.endsWith(`_${suffix}`) ? plain : `${plain}_${suffix}`;
}

/** @returns undefined for units that are not written out */
export function unitOf(unit: string): string | undefined {
  return UNITS.get(unit);
}

/** The name of a metric or a label: dots become underscores. */
export function nameOf(name: string): string {
  return name.replace(NOT_OF_A_NAME, '_');
}
