import { type Manifest, ofKind } from './manifests.js';

/**
 * The labels of everything, and what those of pods say to anyone listing them. Selectors cannot be changed later, so
 * they have only the name.
 */
export function labelFaults(manifests: readonly Manifest[]): readonly string[] {
  const strange = manifests
    .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] !== 'session-broker')
    .map(({ kind, metadata }) => `${kind} ${metadata.name} does not say what it is a part of`);
  const pods = ofKind(manifests, 'Deployment').flatMap(({ metadata: { name }, spec }) => {
    const { labels } = spec.template.metadata;
    const version = /:([\w.-]+)$/.exec(spec.template.spec.containers[0]?.image ?? '')?.[1];
    return [
      ...(labels['app.kubernetes.io/part-of'] === 'session-broker'
        ? []
        : [`the pods of ${name} do not say what they are a part of`]),
      ...(labels['app.kubernetes.io/version'] === version
        ? []
        : [`the pods of ${name} say another version than that of their image`]),
      ...(JSON.stringify(spec.selector.matchLabels) === JSON.stringify({ 'app.kubernetes.io/name': name })
        ? []
        : [`${name} selects its pods by what may change`]),
    ];
  });
  return [...strange, ...pods];
}
