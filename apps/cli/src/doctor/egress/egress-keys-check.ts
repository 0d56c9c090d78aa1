import type { EgressConfiguration } from '#libs/configuration';
import { type Check, fact, fault, type Finding, looked, notApplicable, some, warning } from '../check.js';
import { asBrokerFault, BROKER_LIMIT_MS, type BrokerVisit } from './broker-visit.js';

/** The keys of the egress and of its clients, by thumbprint: none of them may be one that the bank knows. */
export function egressKeysCheck(
  { aliasKeys, clients }: Pick<EgressConfiguration, 'aliasKeys' | 'clients'>,
  visit: BrokerVisit,
): Check {
  return {
    name: 'keys',
    needs: ['broker.access'],
    limitMs: 2 * BROKER_LIMIT_MS,
    run: (signal) =>
      asBrokerFault({ visit, signal }, async () => {
        if (aliasKeys.length === 0) return notApplicable('no client authorizes for itself');
        const own = aliasKeys.map(({ thumbprint }) => thumbprint);
        const merchants = [...new Set(clients.map(({ merchant }) => merchant))];
        const ofBank = new Map<string, string>();
        const untold: string[] = [];
        for (const merchant of merchants) {
          const { body } = await visit.ask({ path: `/v1/merchants/${merchant}/client-key`, signal });
          if (typeof body['thumbprint'] === 'string') ofBank.set(body['thumbprint'], merchant);
          else untold.push(merchant);
        }
        const findings = [
          ...own.flatMap((thumbprint, index) => known(`aliasKeyFiles[${index}]`, ofBank.get(thumbprint))),
          ...clients.flatMap(({ name, alias }) =>
            alias === undefined ? [] : known(`publicKeyFile of ${name}`, ofBank.get(alias.publicKey.thumbprint)),
          ),
          ...(untold.length === 0
            ? []
            : [warning(`the client key of ${some(untold)} is not told`, 'see what broker.session says')]),
        ];
        const newest = fact(`alias keys: ${some(own)}`);
        const unknown = fact('none of the keys is the client key of a merchant');
        return looked([newest, ...(findings.length === 0 ? [unknown] : findings)], { aliasKeys: own });
      }),
  };
}

function known(where: string, merchant: string | undefined): readonly Finding[] {
  if (merchant === undefined) return [];
  const remedy = 'make one with `keys generate`: that of the merchant belongs into the broker and nowhere else';
  return [fault('invalidInput', `${where} is the client key of ${merchant}`, remedy)];
}
