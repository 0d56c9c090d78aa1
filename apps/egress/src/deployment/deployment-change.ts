import { changedBetween, differingSettings, type EgressConfiguration, isSame, namesBetween } from '#libs/configuration';

/** By name, never by value. */
export interface DeploymentChange {
  /** Clients. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Clients of which anything differs. */
  readonly changed: readonly string[];
  /** Other settings that differ, such as `gateway.timeout`. */
  readonly settings: readonly string[];
}

/** Where each setting counts by itself … */
const SECTIONS = ['listen', 'broker', 'gateway', 'reload', 'log'] as const;
/** … and where a list counts as a whole. */
const LISTS = { routes: 'routes', aliasKeys: 'aliasKeyFiles' } as const;

export function changeBetween(before: EgressConfiguration, after: EgressConfiguration): DeploymentChange {
  return {
    ...namesBetween(namesOf(before), namesOf(after)),
    changed: changedBetween(before.clients, after.clients, ({ name }) => name),
    settings: [
      ...SECTIONS.flatMap((section) => differingSettings(section, before[section], after[section])),
      ...(['routes', 'aliasKeys'] as const)
        .filter((name) => !isSame(before[name], after[name]))
        .map((name) => LISTS[name]),
    ],
  };
}

export function isEmpty(change: DeploymentChange): boolean {
  return Object.values(change).every((names: readonly string[]) => names.length === 0);
}

export function namesOf({ clients }: Pick<EgressConfiguration, 'clients'>): readonly string[] {
  return clients.map(({ name }) => name);
}
