import {
  changedBetween,
  differingSettings,
  type EgressClient,
  type EgressConfiguration,
  isSame,
  namesBetween,
} from '#libs/configuration';

/** By name, never by value. */
export interface DeploymentChange {
  /** Clients. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Clients in which anything differs. */
  readonly changed: readonly string[];
  /** Each of those with what differs in it, such as `till (token)`. Absent if there are none. */
  readonly ofClients?: readonly string[];
  /** Other settings that differ, such as `gateway.timeout`. */
  readonly settings: readonly string[];
}

/** Here each setting counts by itself … */
const SECTIONS = ['listen', 'broker', 'gateway', 'reload', 'log'] as const;
/** … and here a list counts as a whole. */
const LISTS = { routes: 'routes', aliasKeys: 'aliasKeyFiles' } as const;

export function changeBetween(before: EgressConfiguration, after: EgressConfiguration): DeploymentChange {
  const { names: changed, told } = changedBetween(before.clients, after.clients, {
    nameOf: ({ name }) => name,
    settingsBetween,
  });
  return {
    ...namesBetween(namesOf(before), namesOf(after)),
    changed,
    ...(told.length > 0 && { ofClients: told }),
    settings: [
      ...SECTIONS.flatMap((section) => differingSettings(section, before[section], after[section])),
      ...(['routes', 'aliasKeys'] as const)
        .filter((name) => !isSame(before[name], after[name]))
        .map((name) => LISTS[name]),
    ],
  };
}

/** Settings that have another name in the file. */
const WRITTEN: Readonly<Record<string, string>> = {
  tokenDigests: 'token',
  'alias.serviceCode': 'serviceCodeAlias',
  'alias.publicKey': 'publicKeyFile',
};

function settingsBetween(before: EgressClient, after: EgressClient): readonly string[] {
  const { alias = {}, ...own } = before;
  const { alias: nextAlias = {}, ...nextOwn } = after;
  const names = [...differingSettings('', own, nextOwn), ...differingSettings('alias', alias, nextAlias)];
  return names.map((name) => WRITTEN[name] ?? name);
}

export function isEmpty(change: DeploymentChange): boolean {
  return Object.values(change).every((names: readonly string[]) => names.length === 0);
}

export function namesOf({ clients }: Pick<EgressConfiguration, 'clients'>): readonly string[] {
  return clients.map(({ name }) => name);
}
