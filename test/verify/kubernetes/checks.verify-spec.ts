import { describeWith } from '#libs/testing';
import { allChecks } from './all-checks.js';
import { type Damage, damages } from './damages.js';
import { renderIntents } from './intents.js';
import { kubernetesPrograms } from './kubernetes-programs.js';
import type { Manifest } from './manifests.js';

function damaged(rendered: readonly Manifest[], [, [kind, name], from, to]: Damage): readonly Manifest[] {
  let changed = 0;
  const manifests = rendered.map((manifest) => {
    if (manifest.kind !== kind || (name ?? manifest.metadata.name) !== manifest.metadata.name) return manifest;
    const text = JSON.stringify(manifest);
    const other = text.replace(from, to);
    if (other !== text) changed += 1;
    return JSON.parse(other) as Manifest;
  });
  if (changed === 0) throw new Error(`nothing was changed: ${String(from)} is not there`);
  return manifests;
}

function heldTo(checks: readonly string[]): void {
  const { intents } = renderIntents();
  const held = checks.flatMap((check) => (damages[check] ?? []).map((damage) => [check, damage[0], damage] as const));

  it.each(held)('of its %s says %s', (check, says, damage) => {
    const intent = damage[4] ?? (check === 'egress' ? 'production-mtls' : 'production');
    const faults = allChecks[check]?.(damaged(intents[intent], damage)) ?? [];
    expect(faults.filter((fault) => says.test(fault))).not.toEqual([]);
  });
}

const others = Object.keys(allChecks).filter((check) => check !== 'schemas');

describeWith(kubernetesPrograms, 'a check of the manifests', () => {
  it('has a damage that it must find, each of them', () => {
    expect(Object.keys(damages).sort()).toEqual(Object.keys(allChecks).sort());
  });

  heldTo(others);
});

describeWith([kubernetesPrograms, 'schemas'], 'a check of the manifests against strict schemas', () =>
  heldTo(['schemas']),
);
