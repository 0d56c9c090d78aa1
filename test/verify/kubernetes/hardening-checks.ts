import { type Container, containersOf, type Manifest, ofKind, type PodSpec, selects } from './manifests.js';

/** A rule that holds for everything rendered, by what is said of anything that breaks it. */
type Rules<Subject> = Readonly<Record<string, (subject: Subject) => boolean>>;

/** What a subject lacks of settings that it must have, as `name:value`. */
const lacks = (subject: Readonly<Record<string, unknown>> = {}, settings: object): readonly string[] =>
  Object.entries(settings)
    .filter(([name, value]) => JSON.stringify(subject[name]) !== JSON.stringify(value))
    .map(([name, value]) => `lacks ${name}: ${JSON.stringify(value)}`);

const CONTAINER = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
const POD = { automountServiceAccountToken: false, enableServiceLinks: false };
const ALL_OF_POD = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

const containerRules: Rules<Container> = {
  'is privileged': ({ securityContext }) => securityContext?.['privileged'] !== true,
  'runs an image without a version': ({ image }) => /:\d+(\.\d+)+$|@sha256:[0-9a-f]{64}$/.test(image),
  'takes a secret from its environment': ({ env = [], envFrom = [] }) =>
    envFrom.length === 0 && env.every((one) => one.valueFrom === undefined),
  'has no bound on what it needs, or another one than it requests': ({ resources: { limits, requests } = {} }) =>
    limits?.['memory'] !== undefined &&
    limits['memory'] === requests?.['memory'] &&
    limits['ephemeral-storage'] !== undefined &&
    requests['cpu'] !== undefined,
  'listens without being asked how it is': ({ ports, livenessProbe, readinessProbe }) =>
    ports === undefined || (livenessProbe !== undefined && readinessProbe !== undefined),
  'mounts what it may write to, or what is never updated': ({ volumeMounts = [] }) =>
    volumeMounts.every(
      ({ subPath, readOnly, mountPath }) => subPath === undefined && (readOnly === true || mountPath === '/tmp'),
    ),
};

const podRules: Rules<PodSpec> = {
  'has a user or group that the node may have too': ({ securityContext }) =>
    ['runAsUser', 'runAsGroup', 'fsGroup'].every((id) => Number(securityContext?.[id]) > 10_000),
  'shares something of its node': (pod) =>
    ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'].every((name) => !(name in pod)) &&
    (pod.volumes ?? []).every((volume) => !('hostPath' in volume)),
};

const broken = <Subject>(rules: Rules<Subject>, subject: Subject): readonly string[] =>
  Object.entries(rules).flatMap(([says, holds]) => (holds(subject) ? [] : [says]));

/** What breaks the "restricted" Pod Security Standard, our own rules, or what the network lets through. */
export function hardeningFaults(manifests: readonly Manifest[]): readonly string[] {
  const pods = ofKind(manifests, 'Deployment').flatMap(({ metadata, spec }) => {
    const pod = spec.template.spec;
    const ofContainers = containersOf(pod).flatMap((container) => [
      ...lacks(container.securityContext, CONTAINER),
      ...broken(containerRules, container),
    ]);
    const ofPod = [...lacks({ ...pod }, POD), ...lacks(pod.securityContext, ALL_OF_POD), ...broken(podRules, pod)];
    return [...ofPod, ...ofContainers].map((says) => `${metadata.name} ${says}`);
  });
  const lax = ofKind(manifests, 'Namespace')
    .filter(({ metadata: { labels = {} } }) => {
      const { 'pod-security.kubernetes.io/enforce': takes, 'pod-security.kubernetes.io/enforce-version': of } = labels;
      return takes !== 'restricted' || !/^v1\.\d+$/.test(of ?? '');
    })
    .map(({ metadata }) => `the namespace ${metadata.name} takes pods that are not restricted`);
  return [...pods, ...lax];
}

/** What the network policies leave open to or from our pods, and whom else they shut out. */
export function networkFaults(manifests: readonly Manifest[]): readonly string[] {
  const policies = ofKind(manifests, 'NetworkPolicy');
  const everybodys = policies
    .filter(({ spec }) => !selectsSome(spec.podSelector))
    .map(({ metadata }) => `the network policy ${metadata.name} is for pods of others, too`);
  const unbound = ofKind(manifests, 'Deployment').flatMap(({ metadata, spec: { template } }) => {
    const own = policies.filter(({ spec }) => selects(spec.podSelector, template.metadata.labels));
    return ['Ingress', 'Egress']
      .filter((type) => !own.some(({ spec }) => spec.policyTypes.includes(type)))
      .map((type) => `what no network policy names is allowed to ${metadata.name} (${type})`);
  });
  const open = policies.flatMap(({ metadata, spec }) =>
    [...(spec.ingress ?? []), ...(spec.egress ?? [])]
      .filter(({ from, to, ports }) => {
        const peers = from ?? to ?? [];
        const anybody = peers.some(({ ipBlock, podSelector }) => ipBlock === undefined && !selectsSome(podSelector));
        const anywhere = peers.some(({ ipBlock }) => ipBlock !== undefined && Number(ipBlock.cidr.split('/')[1]) < 16);
        return peers.length === 0 || anybody || anywhere || ports === undefined || ports.length === 0;
      })
      .map(() => `the network policy ${metadata.name} lets anybody or anything through`),
  );
  return [...everybodys, ...unbound, ...open];
}

const selectsSome = (selector: Parameters<typeof selects>[0] | undefined): boolean =>
  selector !== undefined && !selects(selector, {});
