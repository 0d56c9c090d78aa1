import { parseEgressConfiguration } from '#libs/configuration';
import { configurationOf, graceMs } from './broker-checks.js';
import { type Container, type Manifest, named, ofKind } from './manifests.js';
import { fileFaults, filesNamedBy, portFaults, reachFaults, rolloutFaults } from './program-checks.js';

type ParsedEgressConfiguration = ReturnType<typeof parseEgressConfiguration>;

const NAME = 'session-egress';
const FILE = '/etc/session-egress/egress.yaml';
/** What a request through the egress needs from the broker. */
const NEEDED = ['session:read', 'session:reject', 'payload:decrypt'] as const;

/**
 * Whether the rendered output is what the egress reads, opens, answers and needs; nothing where there is none.
 */
export function egressFaults(manifests: readonly Manifest[]): readonly string[] {
  if (ofKind(manifests, 'Deployment').every(({ metadata }) => metadata.name !== NAME)) return [];
  const deployment = named(manifests, 'Deployment', NAME);
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  if (container === undefined) return ['there is no container'];
  const configuration = egressConfigurationOf(named(manifests, 'ConfigMap', NAME), container);
  const { broker, gateway } = configuration;
  return [
    ...portFaults(container, configuration.listen, configuration.management),
    ...fileFaults(manifests, pod, [...filesNamedBy(configuration), FILE]),
    ...rolloutFaults(manifests, deployment, {
      replicas: 2,
      stopsWithinMs: gateway.timeoutMs + graceMs('apps/egress/src/egress.ts'),
    }),
    ...reachFaults(manifests, NAME, [broker.url, gateway.proxy ?? gateway.baseUrl]),
    ...permissionFaults(manifests, configuration),
  ];
}

/** @throws ConfigurationError if the egress would not accept what is mounted for it */
export function egressConfigurationOf({ data = {} }: Manifest, container: Container): ParsedEgressConfiguration {
  const file = container.env?.find(({ name }) => name === 'EGRESS_CONFIG')?.value;
  if (file !== FILE) throw new Error(`EGRESS_CONFIG is ${String(file)}, and the file is ${FILE}`);
  return parseEgressConfiguration(data['egress.yaml'] ?? '', {});
}

/** What the broker does not allow the egress for a merchant of one of its clients: by its certificate, or its account. */
function permissionFaults(
  manifests: readonly Manifest[],
  { broker: { tls }, clients }: ParsedEgressConfiguration,
): readonly string[] {
  const { containers, serviceAccountName } = named(manifests, 'Deployment', NAME).spec.template.spec;
  const certificates = ofKind(manifests, 'Certificate').filter(({ spec }) => spec.secretName === 'session-egress-tls');
  const account = `system:serviceaccount:session-broker:${String(serviceAccountName)}`;
  const isByToken = tls?.certFile === undefined;
  const caller = isByToken ? account : certificates[0]?.spec.dnsNames[0];
  const { containers: brokers } = named(manifests, 'Deployment', 'session-broker').spec.template.spec;
  const { auth } = configurationOf(manifests, brokers);
  const audiences = (named(manifests, 'Deployment', NAME).spec.template.spec.volumes ?? []).flatMap(
    ({ projected }) => projected?.sources.flatMap((one) => one.serviceAccountToken?.audience ?? []) ?? [],
  );
  const refused = clients.flatMap(({ merchant }) =>
    NEEDED.filter(
      (permission) =>
        !auth.policies.some(
          (policy) =>
            policy.caller === caller && policy.merchants.includes(merchant) && policy.allow.includes(permission),
        ),
    ).map((permission) => `the broker does not let it ${permission} for ${merchant}`),
  );
  return [
    ...(containers.length === 1 ? [] : ['there is something beside it in its pod']),
    ...(!isByToken || audiences.join() === auth.jwt?.audience
      ? []
      : ['its token is for somebody else than the broker']),
    ...refused,
  ];
}
