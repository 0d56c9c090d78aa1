import {
  containersOf,
  keysOf,
  type Manifest,
  type NetworkRule,
  ofKind,
  type PodSpec,
  portNames,
  selected,
  type Selector,
  sourcesOf,
} from './manifests.js';

const called = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** What another object names and does not exist. */
export function wiringFaults(manifests: readonly Manifest[]): readonly string[] {
  return [
    ...selectorFaults(manifests),
    ...portFaults(manifests),
    ...ofKind(manifests, 'Deployment').flatMap((deployment) => podFaults(manifests, deployment)),
  ];
}

function selectorFaults(manifests: readonly Manifest[]): readonly string[] {
  const selectors = manifests.flatMap((manifest): readonly (readonly [Manifest, Selector])[] => {
    const { kind, spec } = manifest;
    if (kind === 'Service') return [[manifest, { matchLabels: spec.selector }]];
    if (kind === 'NetworkPolicy') return [[manifest, spec.podSelector]];
    return /^(Deployment|PodDisruptionBudget|PodMonitor)$/.test(kind) ? [[manifest, spec.selector]] : [];
  });
  return selectors.flatMap(([manifest, selector]) => {
    const found = selected(manifests, selector);
    if (found.length === 0) return [`${called(manifest)} selects no pod`];
    return manifest.kind === 'Deployment' && (found.length > 1 || found[0] !== manifest)
      ? [`${called(manifest)} selects the pods of another one`]
      : [];
  });
}

function portFaults(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) =>
    portUses(manifests, manifest).flatMap(({ port, pods }) =>
      typeof port === 'number' || pods.some((pod) => portNames(pod).includes(port))
        ? []
        : [`${called(manifest)} names the port "${port}", which no pod of it has`],
    ),
  );
}

interface PortUse {
  readonly port: string | number;
  readonly pods: readonly Manifest[];
}

function portUses(manifests: readonly Manifest[], manifest: Manifest): readonly PortUse[] {
  const { kind, spec } = manifest;
  if (kind === 'Service') {
    const pods = selected(manifests, { matchLabels: spec.selector });
    return spec.ports.map(({ targetPort }) => ({ port: targetPort, pods }));
  }
  if (kind === 'PodMonitor') {
    const pods = selected(manifests, spec.selector);
    return spec.podMetricsEndpoints.map(({ port }) => ({ port, pods }));
  }
  if (kind === 'Deployment') return probePorts(spec.template.spec).map((port) => ({ port, pods: [manifest] }));
  if (kind !== 'NetworkPolicy') return [];
  const own = selected(manifests, spec.podSelector);
  const inward = (spec.ingress ?? []).flatMap(portsOf).map((port) => ({ port, pods: own }));
  const outward = (spec.egress ?? []).flatMap((rule) => {
    const pods = (rule.to ?? []).flatMap(({ podSelector }) =>
      podSelector === undefined ? [] : selected(manifests, podSelector),
    );
    return portsOf(rule).map((port) => ({ port, pods }));
  });
  return [...inward, ...outward];
}

const portsOf = ({ ports = [] }: NetworkRule): readonly (string | number)[] => ports.map(({ port }) => port);

function probePorts(pod: PodSpec): readonly (string | number)[] {
  return containersOf(pod).flatMap(({ startupProbe, livenessProbe, readinessProbe }) =>
    [startupProbe, livenessProbe, readinessProbe].flatMap(
      (probe) => probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? [],
    ),
  );
}

function podFaults(manifests: readonly Manifest[], deployment: Manifest): readonly string[] {
  const pod = deployment.spec.template.spec;
  const volumes = pod.volumes ?? [];
  const mounted = containersOf(pod).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
  const account = pod.serviceAccountName;
  const accounts = ofKind(manifests, 'ServiceAccount').map(({ metadata }) => metadata.name);
  return [
    ...mounted
      .filter((name) => volumes.every((volume) => volume.name !== name))
      .map((name) => `mounts the volume "${name}", which it does not have`),
    ...volumes
      .filter(({ name }) => !mounted.includes(name))
      .map(({ name }) => `has the volume "${name}", which it does not mount`),
    ...volumes.flatMap(sourcesOf).flatMap(({ of, items = [] }) => {
      const keys = keysOf(manifests, of);
      if (keys === undefined) return [`mounts "${of}", which nobody makes`];
      return items.filter(({ key }) => !keys.includes(key)).map(({ key }) => `wants "${key}" of "${of}"`);
    }),
    ...(account === undefined || accounts.includes(account)
      ? []
      : [`runs as "${account}", an account that is not there`]),
  ].map((fault) => `${called(deployment)} ${fault}`);
}
