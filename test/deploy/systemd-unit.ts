import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A unit file: the values of each setting, in order. */
export type SystemdUnit = Readonly<Record<string, readonly string[]>>;

export const unitFile = (name: string): string =>
  join(import.meta.dirname, '..', '..', 'deploy', 'systemd', `${name}.service`);

export function readUnit(name: string): SystemdUnit {
  const unit: Record<string, string[]> = {};
  for (const [, setting = '', value = ''] of readFileSync(unitFile(name), 'utf8').matchAll(/^([A-Za-z]+)=(.*)$/gm)) {
    (unit[setting] ??= []).push(value);
  }
  return unit;
}

/** What the unit sets for its program. */
export function environmentOf(unit: SystemdUnit): Record<string, string> {
  const pairs = (unit['Environment'] ?? []).flatMap((line) => line.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}
