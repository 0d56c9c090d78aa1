import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { Ajv } from 'ajv';
import { type Manifest, root } from './manifests.js';

const schemas = join(root, '..', 'shared', 'schemas');

/**
 * What the schemas of Kubernetes and of the operators refuse when made strict: also members that a type does not list.
 * They are not part of the project, but next to it.
 */
export function strictFaults(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    if (manifest.kind === 'HTTPRoute') return routeFaults(manifest);
    const validate = validatorOf(manifest);
    return validate(manifest)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) =>
            `${manifest.kind} ${manifest.metadata.name}${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
        );
  });
}

/** Of the Gateway API there is no schema beside the checkout, but a published model, which takes unknown members. */
function routeFaults(manifest: Manifest): readonly string[] {
  try {
    new HTTPRoute(manifest as never).validate();
    return [];
  } catch (error) {
    return [`HTTPRoute ${manifest.metadata.name}: ${(error as Error).message}`];
  }
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const definitions: Readonly<Record<string, string>> = {
  'apps/v1': 'io.k8s.api.apps.v1',
  'autoscaling/v2': 'io.k8s.api.autoscaling.v2',
  'networking.k8s.io/v1': 'io.k8s.api.networking.v1',
  'policy/v1': 'io.k8s.api.policy.v1',
  'scheduling.k8s.io/v1': 'io.k8s.api.scheduling.v1',
  v1: 'io.k8s.api.core.v1',
};

function validatorOf({ apiVersion, kind }: Manifest): ReturnType<Ajv['compile']> {
  const group = definitions[apiVersion];
  const id = group === undefined ? kind : `kubernetes#/definitions/${group}.${kind}`;
  if (group !== undefined && ajv.getSchema('kubernetes') === undefined) {
    const text = gunzipSync(readFileSync(join(schemas, 'k8s-openapi.json.gz'))).toString('utf8');
    ajv.addSchema(strict(text), 'kubernetes');
  } else if (group === undefined && ajv.getSchema(kind) === undefined) {
    ajv.addSchema(strict(readFileSync(join(schemas, 'crds', `${kind.toLowerCase()}_v1.json`), 'utf8')), kind);
  }
  const found = ajv.getSchema(id);
  if (found === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`);
  return found;
}

/** A type does not accept what it does not list, unless it says that it accepts anything. */
function strict(text: string): object {
  return JSON.parse(text, (key, value: unknown) => {
    // Go's way of ignoring case.
    if (key === 'pattern' && typeof value === 'string') return value.replace(/\(\?i\)(.*)$/, '(?i:$1)');
    if (typeof value !== 'object' || value === null) return value;
    if ('format' in value && value.format === 'int-or-string') return { type: ['integer', 'string'] };
    const open = 'additionalProperties' in value || 'x-kubernetes-preserve-unknown-fields' in value;
    const listed = 'properties' in value && 'type' in value && value.type === 'object';
    return listed && !open ? { ...value, additionalProperties: false } : value;
  }) as object;
}
