import { describeWith } from '#libs/testing';
import { chart, options, template, valuesOf } from './intents.js';
import { kubernetesPrograms, run } from './kubernetes-programs.js';
import { allChecks } from './manifest-checks.js';
import { named, ofKind } from './manifests.js';
import { strictFaults } from './schema-checks.js';

const PRODUCTION = valuesOf('production');

describeWith(kubernetesPrograms, 'the chart', () => {
  it.each([[[]], [[PRODUCTION]], [[valuesOf('production-mtls')]]])(
    'is without a fault for the strict lint of Helm, with %j',
    (files) => {
      const args = files.flatMap((file) => ['--values', file]);
      expect(run('helm', ['lint', '--strict', chart, ...args])).toContain('1 chart(s) linted, 0 chart(s) failed');
    },
  );

  it.each([['template'], ['install', '--dry-run=client']])(
    'refuses `helm %s` with nothing but a tag, and says all that has to be given: running pods would lose the bank',
    (...verb) => {
      const says = /image\.repository: [^]*broker\.configuration: [^]*network\.gateway: /;
      expect(() => run('helm', [...verb, 'session-broker', chart, '--set', 'image.tag=1.2.3'])).toThrow(says);
    },
  );

  it.each([
    ['egress.configuration', { egress: { enabled: true, configuration: '' } }],
    ['broker.kubernetesCallers.apiServer.cidrs', { broker: { kubernetesCallers: { enabled: true } } }],
  ])('refuses to be without %s', (name, values) => {
    expect(() => template('session-broker', [], [values])).toThrow(`upgrade:\n${name}: `);
  });

  it.each([
    [
      'kubernetesCallers/apiServer',
      'cidrs',
      { broker: { kubernetesCallers: { enabled: true, apiServer: { cidrs: null } } } },
    ],
    ['network/gateway', 'ports', { network: { gateway: { cidrs: ['203.0.113.0/24'], ports: null } } }],
    ['network/redis', 'ports', { network: { redis: { cidrs: ['198.51.100.0/24'], ports: null } } }],
    ['network/monitoring', 'prometheusLabels', { network: { monitoring: { prometheusLabels: null } } }],
    ['network', 'monitoring', { network: { monitoring: null } }],
  ])('is refused where %s has an empty %s, for a policy without it lets everybody through', (at, member, values) => {
    const says = new RegExp(`${at}'?: .*missing propert(?:y|ies):? '?${member}`);
    expect(() => template('session-broker', [], [values])).toThrow(says);
  });

  it('is refused with an autoscaler whose most is less than its least', () => {
    const autoscaling = { enabled: true, maxReplicas: 2 };
    const says = /broker\.autoscaling\.maxReplicas: 2 is less than broker\.autoscaling\.minReplicas, 3/;
    expect(() => template('session-broker', [], [{ broker: { autoscaling } }])).toThrow(says);
    const three = template('session-broker', [], [{ broker: { autoscaling: { ...autoscaling, maxReplicas: 3 } } }]);
    expect(named(three, 'HorizontalPodAutoscaler', 'session-broker').spec).toMatchObject({
      minReplicas: 3,
      maxReplicas: 3,
    });
  });

  it.each([
    ['redis', {}, /broker\.merchants\[1\]: \/run\/secrets\/redis is the folder of broker\.redisSecret/],
    [
      'api-tls',
      { mutualTls: { enabled: true, issuer: { name: 'internal' } } },
      /broker\.merchants\[1\]: \/run\/secrets\/api-tls is the folder of broker\.mutualTls/,
    ],
    [
      'keys',
      { volumeMounts: [{ name: 'keys', mountPath: '/run/secrets/keys/' }] },
      /broker\.merchants\[1\]: \/run\/secrets\/keys is the folder of broker\.volumeMounts\[0\]/,
    ],
  ])('refuses a merchant %s, at whose folder another mount is', (id, broker, says) => {
    expect(() => template('session-broker', [], [{ broker: { ...broker, merchants: ['shop', id] } }])).toThrow(says);
  });

  it.each([
    ['redis', { redisSecret: false }],
    ['api-tls', {}],
    ['s'.repeat(54), {}],
  ])('takes a merchant %s where its folder is its own', (id, broker) => {
    const rendered = template('session-broker', [], [{ broker: { ...broker, merchants: [id] } }]);
    const { containers, volumes = [] } = named(rendered, 'Deployment', 'session-broker').spec.template.spec;
    const paths = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
    expect(paths).toContain(`/run/secrets/${id}`);
    expect(new Set(paths).size).toBe(paths.length);
    expect(volumes.filter(({ name }) => name.length > 63)).toEqual([]);
  });

  it.each([
    ['outlet/client.jwk.json', 'Name outlet in broker.merchants'],
    ['redis/ca.crt', 'Set broker.redisSecret'],
    ['api-tls/tls.crt', 'Enable broker.mutualTls'],
  ])('refuses a configuration that names %s, whose folder no pod mounts', (file, remedy) => {
    const says = `broker.configuration: no pod mounts the folder of /run/secrets/${file}. ${remedy}`;
    const configuration = `# /run/secrets/comment/file\nclientKeyFiles: [/run/secrets/${file}]\n`;
    const broker = { configuration, redisSecret: false };
    expect(() => template('session-broker', [], [{ broker }])).toThrow(says);
    const volumeMounts = [{ name: 'keys', mountPath: '/run/secrets/' }];
    const mounted = template('session-broker', [], [{ broker: { ...broker, volumeMounts } }]);
    expect(named(mounted, 'ConfigMap', 'session-broker').data?.['broker.yaml']).toBe(configuration);
  });

  it('makes nothing of the options unless it is told to, and no namespace', () => {
    const kinds = template('session-broker', [], []).map(({ kind }) => kind);
    const made = [
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'Pod',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ];
    expect([...new Set(kinds)].sort()).toEqual(made);
  });

  it('leaves the network to others if it is told to, and demands no address then', () => {
    const route = { enabled: true, parentRefs: [{}], hostnames: ['a.example'], from: { podLabels: { gateway: 'a' } } };
    const broker = { kubernetesCallers: { enabled: true } };
    const values = {
      networkPolicy: { enabled: false },
      network: { gateway: { cidrs: [] } },
      egress: { enabled: true, route },
    };
    const rendered = template('session-broker', [], [{ ...values, broker }]);
    expect(ofKind(rendered, 'NetworkPolicy')).toEqual([]);
    expect(ofKind(rendered, 'HTTPRoute')).toHaveLength(1);
  });

  it('has alerts whose runbooks are links, where it knows what comes before them', () => {
    const monitoring = { enabled: true, runbooks: 'https://git.example/broker/blob/main/' };
    const rules = JSON.stringify(
      named(template('session-broker', [], [{ monitoring }]), 'PrometheusRule', 'session-broker').spec,
    );
    const links = [...rules.matchAll(/"runbook_url":"([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(10);
    const page = /^https:\/\/git\.example\/broker\/blob\/main\/docs\/runbooks\/[a-z-]+\.md$/;
    expect(links.filter((link) => !page.test(link))).toEqual([]);
  });

  describe('with all that can be added to its pods', () => {
    const volumes = [{ name: 'ca', configMap: { name: 'kube-root-ca.crt' } }];
    const added = {
      env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' }],
      volumes,
      volumeMounts: [{ name: 'ca', mountPath: '/run/ca', readOnly: true }],
    };
    const digest = `sha256:${'0'.repeat(64)}`;
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
    const rendered = template(
      'session-broker',
      [PRODUCTION],
      [
        options(),
        { broker: added, egress: added, image: { repository: 'registry.example/broker', tag: '1.2.3', digest } },
        { image: { pullSecrets: ['registry'], pullPolicy: 'Always' } },
        { monitoring: { labels: { release: 'prometheus' }, dashboardFolder: 'Payments' } },
        {
          pods: {
            annotations: { team: 'payments' },
            labels: { 'cost-centre': '7' },
            affinity,
            nodeSelector: { pool: 'b' },
            tolerations: [{ operator: 'Exists' }],
          },
        },
      ],
    );

    it('has the dashboard in its folder', () => {
      const dashboard = named(rendered, 'ConfigMap', 'session-broker-dashboard');
      expect(dashboard.metadata.annotations).toEqual({ grafana_folder: 'Payments' });
    });

    it.each(['hardening', 'network', 'environment'] as const)('is without a fault of its %s', (check) => {
      allChecks[check](rendered);
    });

    describeWith('schemas', 'by strict schemas', () => {
      it('is without a fault', () => {
        expect(strictFaults(rendered)).toEqual([]);
      });
    });

    it.each(['session-broker', 'session-egress'])('has it in the pods of %s', (name) => {
      const { metadata, spec } = named(rendered, 'Deployment', name).spec.template;
      expect(metadata).toMatchObject({
        labels: { 'app.kubernetes.io/version': '1.2.3', 'cost-centre': '7' },
        annotations: { team: 'payments' },
      });
      expect(spec).toMatchObject({
        nodeSelector: { pool: 'b' },
        affinity,
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            image: `registry.example/broker:1.2.3@${digest}`,
            imagePullPolicy: 'Always',
            env: expect.arrayContaining(added.env) as unknown,
          },
        ],
      });
      expect(spec.volumes).toEqual(expect.arrayContaining(volumes));
      const account = named(rendered, 'ServiceAccount', String(spec.serviceAccountName));
      expect(account).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
      expect(named(rendered, 'PodMonitor', name).metadata.labels).toMatchObject({ release: 'prometheus' });
    });
  });
});
