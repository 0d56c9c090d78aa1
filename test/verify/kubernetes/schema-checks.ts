import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Certificate } from '@kubernetes-models/cert-manager/cert-manager.io/v1/Certificate';
import { ExternalSecret } from '@kubernetes-models/external-secrets/external-secrets.io/v1/ExternalSecret';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { PriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1/PriorityClass';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Pod } from 'kubernetes-models/v1/Pod';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { type Manifest, root } from './manifests.js';

type Model = new (data: never) => { validate(): void };

const models: Readonly<Record<string, Model>> = {
  'v1/ConfigMap': ConfigMap,
  'v1/Namespace': Namespace,
  'v1/Pod': Pod,
  'v1/Secret': Secret,
  'v1/Service': Service,
  'v1/ServiceAccount': ServiceAccount,
  'apps/v1/Deployment': Deployment,
  'autoscaling/v2/HorizontalPodAutoscaler': HorizontalPodAutoscaler,
  'networking.k8s.io/v1/NetworkPolicy': NetworkPolicy,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
  'scheduling.k8s.io/v1/PriorityClass': PriorityClass,
  'cert-manager.io/v1/Certificate': Certificate,
  'external-secrets.io/v1/ExternalSecret': ExternalSecret,
  'gateway.networking.k8s.io/v1/HTTPRoute': HTTPRoute,
  'monitoring.coreos.com/v1/PodMonitor': PodMonitor,
  'monitoring.coreos.com/v1/PrometheusRule': PrometheusRule,
};

/** What the published models refuse: wrong types, wrong values, missing members. They accept unknown ones. */
export function modelFaults(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const { apiVersion, kind, metadata } = manifest;
    const model = models[`${apiVersion}/${kind}`];
    if (model === undefined) return [`${apiVersion}/${kind}: no model is known`];
    try {
      new model(manifest as never).validate();
      return [];
    } catch (error) {
      return [`${kind} ${metadata.name}: ${(error as Error).message}`];
    }
  });
}

const schemas = join(root, '..', 'shared', 'schemas');

/**
 * What the schemas of Kubernetes and of the operators refuse when made strict: also members that a type does not list.
 * They are not part of the project, but next to it.
 */
export function strictFaults(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap((manifest) => {
    const validate = validatorOf(manifest);
    if (validate === undefined) return [];
    return validate(manifest)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) =>
            `${manifest.kind} ${manifest.metadata.name}${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
        );
  });
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

function validatorOf({ apiVersion, kind }: Manifest): ReturnType<Ajv['compile']> | undefined {
  const group = definitions[apiVersion];
  const id = group === undefined ? kind : `kubernetes#/definitions/${group}.${kind}`;
  if (group !== undefined && ajv.getSchema('kubernetes') === undefined) {
    const text = gunzipSync(readFileSync(join(schemas, 'k8s-openapi.json.gz'))).toString('utf8');
    ajv.addSchema(strict(text), 'kubernetes');
  } else if (group === undefined && ajv.getSchema(kind) === undefined) {
    const file = join(schemas, 'crds', `${kind.toLowerCase()}_v1.json`);
    // For the Gateway API there is only the published model.
    if (!existsSync(file)) return undefined;
    ajv.addSchema(strict(readFileSync(file, 'utf8')), kind);
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
