import type { Manifest } from './manifests.js';

/** What Helm and the conventions of charts put on each object. Nothing else reads these. */
const OF_HELM = /^(?:helm\.sh\/.+|app\.kubernetes\.io\/(?:instance|managed-by))$/;

/** The lists that Kubernetes merges by a key: their order has no meaning, and Kustomize patches put new items first. */
const KEYED: ReadonlyMap<string, string> = new Map([
  ['volumes', 'name'],
  ['volumeMounts', 'mountPath'],
  ['data', 'secretKey'],
]);

/**
 * The same objects in one form, whoever rendered them: ordered by kind and name, their members ordered by name, without
 * Helm's own labels and annotations, and with base64 on one line. Names need no normalising: neither source generates
 * any.
 */
export function normalised(manifests: readonly Manifest[]): readonly Manifest[] {
  const place = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
  return manifests
    .map((manifest) => inOrder(unwrapped(withoutHelm(manifest))) as Manifest)
    .sort((one, other) => (place(one) < place(other) ? -1 : 1));
}

function withoutHelm(manifest: Manifest): Manifest {
  const { labels, annotations, ...metadata } = manifest.metadata;
  const kept = Object.entries({ labels, annotations }).map(([name, members = {}]) => {
    const own = Object.entries(members).filter(([key]) => !OF_HELM.test(key));
    return own.length === 0 ? {} : { [name]: Object.fromEntries(own) };
  });
  return { ...manifest, metadata: Object.assign(metadata, ...kept) as Manifest['metadata'] };
}

/** Kustomize wraps lines of base64, which Kubernetes accepts and the published model does not. */
function unwrapped(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Secret') return manifest;
  const data = Object.entries(manifest.data ?? {}).map(([key, value]) => [key, value.replaceAll('\n', '')] as const);
  return { ...manifest, data: Object.fromEntries(data) };
}

function inOrder(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const key = KEYED.get(name);
    const items = value.map((item) => inOrder(item));
    return key === undefined ? items : items.sort((one, other) => (textOf(one, key) < textOf(other, key) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([member, of]) => [member, inOrder(of, member)]));
}

const textOf = (item: unknown, key: string): string => String((item as Readonly<Record<string, unknown>>)[key]);
