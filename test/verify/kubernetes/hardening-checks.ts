import { type Container, containersOf, type Manifest, ofKind, type PodSpec, selects } from './manifests.js';

/** A rule that holds for everything rendered, and what is said of anything that breaks it. */
interface Rule<Subject> {
  readonly says: string;
  readonly holds: (subject: Subject) => boolean;
}

const containerRules: readonly Rule<Container>[] = [
  {
    says: 'may gain privileges',
    holds: ({ securityContext }) => securityContext?.['allowPrivilegeEscalation'] === false,
  },
  {
    says: 'may write to its root',
    holds: ({ securityContext }) => securityContext?.['readOnlyRootFilesystem'] === true,
  },
  {
    says: 'keeps capabilities',
    holds: ({ securityContext }) => JSON.stringify(securityContext?.['capabilities']) === '{"drop":["ALL"]}',
  },
  { says: 'is privileged', holds: ({ securityContext }) => securityContext?.['privileged'] !== true },
  { says: 'runs an image without a version', holds: ({ image }) => /:\d+(\.\d+)+$|@sha256:[0-9a-f]{64}$/.test(image) },
  {
    says: 'does not say when its image is pulled',
    holds: ({ imagePullPolicy = '' }) => ['IfNotPresent', 'Always'].includes(imagePullPolicy),
  },
  {
    says: 'takes a secret from its environment',
    holds: ({ env = [], envFrom = [] }) => envFrom.length === 0 && env.every((one) => one.valueFrom === undefined),
  },
  {
    says: 'does not request what it needs',
    holds: ({ resources }) =>
      ['cpu', 'memory', 'ephemeral-storage'].every((what) => resources?.requests?.[what] !== undefined),
  },
  {
    says: 'may use more memory than it requests',
    holds: ({ resources }) =>
      resources?.limits?.['memory'] !== undefined && resources.limits['memory'] === resources.requests?.['memory'],
  },
  {
    says: 'has no bound on its files',
    holds: ({ resources }) => resources?.limits?.['ephemeral-storage'] !== undefined,
  },
  {
    says: 'listens without being asked how it is',
    holds: ({ ports, livenessProbe, readinessProbe }) =>
      ports === undefined || (livenessProbe !== undefined && readinessProbe !== undefined),
  },
  {
    says: 'mounts what it may write to, or what is never updated',
    holds: ({ volumeMounts = [] }) =>
      volumeMounts.every(
        ({ subPath, readOnly, mountPath }) => subPath === undefined && (readOnly === true || mountPath === '/tmp'),
      ),
  },
];

const podRules: readonly Rule<PodSpec>[] = [
  { says: 'may run as root', holds: ({ securityContext }) => securityContext?.['runAsNonRoot'] === true },
  {
    says: 'has a user or group that the node may have too',
    holds: ({ securityContext }) =>
      ['runAsUser', 'runAsGroup', 'fsGroup'].every((id) => Number(securityContext?.[id]) > 10_000),
  },
  {
    says: 'may make any system call',
    holds: ({ securityContext }) => JSON.stringify(securityContext?.['seccompProfile']) === '{"type":"RuntimeDefault"}',
  },
  { says: 'gets a token of the API server', holds: (pod) => pod.automountServiceAccountToken === false },
  { says: 'is told of all services', holds: (pod) => pod.enableServiceLinks === false },
  {
    says: 'shares something of its node',
    holds: (pod) =>
      ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'].every((name) => !(name in pod)) &&
      (pod.volumes ?? []).every((volume) => !('hostPath' in volume)),
  },
];

/** What breaks the "restricted" Pod Security Standard, our own rules, or what the network lets through. */
export function hardeningFaults(manifests: readonly Manifest[]): readonly string[] {
  const pods = ofKind(manifests, 'Deployment').flatMap(({ metadata, spec }) => {
    const pod = spec.template.spec;
    const ofPod = podRules.filter(({ holds }) => !holds(pod));
    const ofContainers = containersOf(pod).flatMap((container) =>
      containerRules.filter(({ holds }) => !holds(container)),
    );
    return [...ofPod, ...ofContainers].map(({ says }) => `${metadata.name} ${says}`);
  });
  const lax = ofKind(manifests, 'Namespace')
    .filter(({ metadata }) => metadata.labels?.['pod-security.kubernetes.io/enforce'] !== 'restricted')
    .map(({ metadata }) => `the namespace ${metadata.name} takes pods that are not restricted`);
  const floating = ofKind(manifests, 'Namespace')
    .filter(({ metadata }) => !/^v1\.\d+$/.test(metadata.labels?.['pod-security.kubernetes.io/enforce-version'] ?? ''))
    .map(({ metadata }) => `what the namespace ${metadata.name} takes changes with the version of the cluster`);
  return [...pods, ...lax, ...floating];
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
