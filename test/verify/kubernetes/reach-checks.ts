import { egressConfigurationOf } from './egress-checks.js';
import { type Manifest, named, ofKind, type Peer, type RouteRule, selected } from './manifests.js';

/** Where names are resolved: the port of each resolver, and how to recognise a peer as it. */
const resolvers: Readonly<Record<string, readonly [port: number, is: (peer: Peer) => boolean]>> = {
  CoreDNS: [53, ({ podSelector }) => podSelector?.matchLabels?.['k8s-app'] === 'kube-dns'],
  'the DNS cache of its node': [53, ({ ipBlock }) => ipBlock?.cidr === '169.254.20.10/32'],
  'the DNS cache in pods': [53, ({ podSelector }) => podSelector?.matchLabels?.['k8s-app'] === 'node-local-dns'],
  'the DNS of OpenShift': [
    5_353,
    ({ podSelector }) => podSelector?.matchLabels?.['dns.operator.openshift.io/daemonset-dns'] === 'default',
  ],
};

/** The programs whose policy does not let them resolve names, over UDP or over TCP. */
export function dnsFaults(manifests: readonly Manifest[]): readonly string[] {
  return ['session-broker', 'session-egress'].flatMap((name) => {
    const policy = ofKind(manifests, 'NetworkPolicy').find(({ metadata }) => metadata.name === name);
    if (policy === undefined) return [];
    const rules = policy.spec.egress ?? [];
    return Object.entries(resolvers).flatMap(([resolver, [number, is]]) =>
      ['UDP', 'TCP']
        .filter((protocol) =>
          rules.every(
            ({ to = [], ports = [] }) =>
              !to.some(is) || !ports.some((one) => one.port === number && one.protocol === protocol),
          ),
        )
        .map((protocol) => `${name} does not reach ${resolver} by ${protocol}`),
    );
  });
}

/** Services that cannot exist in clusters of the other IP family. */
export function familyFaults(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'Service')
    .filter(({ spec }) => spec.ipFamilyPolicy !== 'PreferDualStack')
    .map(({ metadata }) => `the service ${metadata.name} is of one IP family`);
}

/** What a route from outside could do to a payment: send it nowhere, give up on it too early, or make it twice. */
export function routeFaults(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'HTTPRoute').flatMap(({ metadata: { name }, spec }) =>
    spec.rules
      .flatMap((rule) => [
        ...backendFaults(manifests, rule),
        ...(rule.retry === undefined ? [] : ['repeats payments']),
        ...(secondsOf(rule.timeouts?.request) > longestSeconds(manifests) ? [] : ['gives up before the egress does']),
      ])
      .map((fault) => `the route ${name} ${fault}`),
  );
}

function backendFaults(manifests: readonly Manifest[], { backendRefs }: RouteRule): readonly string[] {
  return backendRefs.flatMap(({ name, port }) => {
    const service = ofKind(manifests, 'Service').find(({ metadata }) => metadata.name === name);
    if (service?.spec.ports.every((one) => one.port !== port) ?? true) return [`leads to no service: ${name}:${port}`];
    const isOpen = ofKind(manifests, 'NetworkPolicy').some(
      ({ metadata, spec }) =>
        metadata.name === 'session-egress-route' &&
        selected(manifests, spec.podSelector).some((pod) => pod.metadata.name === name),
    );
    return isOpen ? [] : [`is let in by nobody to ${name}`];
  });
}

function longestSeconds(manifests: readonly Manifest[]): number {
  const [container] = named(manifests, 'Deployment', 'session-egress').spec.template.spec.containers;
  if (container === undefined) return 0;
  return egressConfigurationOf(named(manifests, 'ConfigMap', 'session-egress'), container).gateway.timeoutMs / 1_000;
}

const secondsOf = (duration = '0s'): number => Number(/^(\d+)s$/.exec(duration)?.[1]);
