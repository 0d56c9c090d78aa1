import { clientFaults } from './egress-client-rules.js';
import { gatewayRules } from './gateway-rules.js';
import { covers } from './route-path.js';
import { faultIf, repeats, type Rule, rulesAt } from './rule.js';
import { type EgressDocument, type EgressSettings, MAX_SEALED_BYTES } from './settings/egress-settings.js';
import { isLoopbackUrl } from './value-rule.js';

/** Answered by the egress itself (interface description, "Create a technical session"). */
const CREATE_CALL = '/api-gateway/authorize_virtual_device';

const brokerRules: Readonly<Record<string, Rule<EgressSettings>>> = {
  credentialForBroker: ({ broker: { url, tokenFile, tls = {} } = {} }) =>
    url === undefined || isLoopbackUrl(url) || (tokenFile ?? tls.certFile ?? tls.keyFile) !== undefined
      ? []
      : [
          {
            path: 'broker.tokenFile',
            problem:
              'is missing: name the file with the token of the egress, or give broker.tls a certFile and a keyFile',
            unlessFaulty: ['broker.tls', 'broker.tls.certFile', 'broker.tls.keyFile'],
          },
        ],
  brokerTlsNeedsHttps: ({ broker: { url, tls = {} } = {} }) =>
    faultIf(
      url?.protocol === 'http:' && Object.values(tls).some((file) => file !== undefined),
      'broker.tls',
      'has no effect on an http url; use https, or remove it',
    ),
  brokerIdentityIsWhole: ({ broker: { tls: { certFile, keyFile } = {} } = {} }) =>
    faultIf(
      (certFile === undefined) !== (keyFile === undefined),
      `broker.tls.${certFile === undefined ? 'certFile' : 'keyFile'}`,
      'is missing: certFile and keyFile belong together',
    ),
};

const routeRules: Readonly<Record<string, Rule<EgressSettings>>> = {
  routesAreReached: ({ routes = [] }) =>
    routes.flatMap((route, index) => {
      const first = routes.findIndex(
        (other) => other?.path !== undefined && route?.path !== undefined && covers(other.path, route.path),
      );
      return faultIf(
        first >= 0 && first < index,
        `routes[${index}].path`,
        `is never reached: egress.routes[${first}] comes first and matches all of it; put this one before that, or remove it`,
      );
    }),
  createCallIsNoRoute: ({ routes = [] }) =>
    routes.flatMap((route, index) =>
      faultIf(
        route?.path === CREATE_CALL,
        `routes[${index}].path`,
        'is the create call, which the egress answers itself and never sends to the bank; remove the route',
      ),
    ),
  sealedIsBounded: ({ routes = [] }) =>
    routes.flatMap((route, index) =>
      faultIf(
        route?.body === 'sealed' && (route.maxBytes ?? 0) > MAX_SEALED_BYTES,
        `routes[${index}].maxBytes`,
        `must be at most ${MAX_SEALED_BYTES} with body: sealed`,
      ),
    ),
  membersAreOfSealedBodies: ({ routes = [] }) =>
    routes.flatMap((route, index) =>
      (['encrypted', 'notCards'] as const).flatMap((members) =>
        faultIf(
          route?.body === 'clear' && (route[members]?.length ?? 0) > 0,
          `routes[${index}].${members}`,
          'has no effect with body: clear; remove it, or set body to sealed',
        ),
      ),
    ),
};

const rules: Readonly<Record<string, Rule<EgressSettings>>> = {
  portsDiffer: ({ listen, management }) =>
    faultIf(
      listen?.port !== undefined && listen.port !== 0 && listen.port === management?.port,
      'management.port',
      'must differ from egress.listen.port',
    ),
  aliasKeyFilesDiffer: ({ aliasKeyFiles }) =>
    repeats(
      aliasKeyFiles,
      (file) => file,
      (index, first) => ({
        path: `aliasKeyFiles[${index}]`,
        problem: `is the same file as egress.aliasKeyFiles[${first}]; remove one`,
      }),
    ),
  ...brokerRules,
  ...gatewayRules,
  ...routeRules,
  clientFaults,
};

/** Contradictions between settings of an egress that are each correct on their own. */
export const egressFaults: Rule<EgressDocument> = ({ egress = {} }) => rulesAt('egress', rules)(egress);
