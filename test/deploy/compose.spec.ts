import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfiguration, parseEgressConfiguration } from '#libs/configuration';

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
  readonly entrypoint?: readonly string[];
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

const egressConfiguration = (): ReturnType<typeof parseEgressConfiguration> =>
  parseEgressConfiguration(textOf('deploy/compose/egress.yaml'), {});
const sha256Of = (token: string): string => createHash('sha256').update(token).digest('hex');

describe('docker-compose.yml', () => {
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
    for (const [, { environment }] of brokers) expect(environment?.['BROKER_CONFIG']).toBe('/run/keys/broker.yaml');
    expect(compose.configs['broker']?.file).toBe('deploy/compose/broker.yaml');
    const parsed = parseConfiguration(textOf('deploy/compose/broker.yaml'), {});
    expect(parsed.store).toMatchObject({ type: 'redis', url: 'redis://redis:6379/0' });
    // One machine, without TLS anywhere on it.
    expect(parsed.warnings.map(({ path }) => path)).toEqual(['http.tls']);
  });

  it('gives the egress a configuration that it accepts, in front of the replicas and of the gateway', () => {
    expect(egress?.environment?.['EGRESS_CONFIG']).toBe('/run/keys/egress.yaml');
    expect(compose.configs['egress']?.file).toBe('deploy/compose/egress.yaml');
    const { broker, gateway, warnings } = egressConfiguration();
    expect([broker.url.href, gateway.baseUrl.href]).toEqual(['http://balancer:8080/', 'http://sandbox:8081/']);
    // One machine, without TLS anywhere on it.
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

  it('makes its keys as a root that may write what it gave away at an earlier start', () => {
    expect(compose.services['keys']).toMatchObject({
      user: '0:0',
      cap_drop: ['ALL'],
      cap_add: ['CHOWN', 'DAC_OVERRIDE'],
    });
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
