import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describeWith, toolPath } from '#libs/testing';
import { kubernetesPrograms, run as helm } from '../kubernetes/kubernetes-programs.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const name = `session-broker-${version}`;
const chart = `${name}.tgz`;
const client = `session-broker-client-${version}.tgz`;
const image = `session-broker-image-${version}.tar.gz`;
const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
}

interface CycloneDx {
  readonly metadata: { readonly component: Component; readonly timestamp: string };
  readonly components: readonly Component[];
}

interface Spdx {
  readonly packages: readonly { readonly name: string; readonly versionInfo: string }[];
}

interface Statement {
  readonly _type: string;
  readonly predicateType: string;
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: { readonly version: string };
      readonly resolvedDependencies: readonly { readonly name?: string; readonly digest: object }[];
    };
    readonly runDetails: { readonly builder: { readonly id: string } };
  };
}

const fullName = ({ group, name: own, version: of }: Component): string =>
  `${group === undefined ? '' : `${group}/`}${own}@${of}`;

describeWith(['linux', 'git'], 'a release', () => {
  let folder: string;
  let out: string;
  let said: { readonly stdout: string; readonly stderr: string };
  const bytes = (file: string): Buffer => readFileSync(join(out, file));
  const json = <Document>(file: string): Document => JSON.parse(bytes(file).toString()) as Document;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'session-broker-release-test-'));
    out = join(folder, 'release');
    const args = [join(root, 'tools/release/main.mjs'), '--dry-run', '--out', out];
    said = await run(process.execPath, args, { cwd: root, maxBuffer: 1 << 24 });
  }, 300_000);
  afterAll(() => rm(folder, { recursive: true }));

  it('is a client, an image, a chart, bills of materials, licences, where it is from, and checksums', () => {
    expect(readdirSync(out).sort()).toEqual(
      [
        'SHA256SUMS',
        `${name}.cdx.json`,
        `${name}.intoto.json`,
        `${name}.licences.md`,
        `${name}.spdx.json`,
        chart,
        client,
        image,
      ].sort(),
    );
    expect(said.stdout).toContain(`in ${client}: LICENSE README.md dist/cjs/attempts.d.ts`);
  });

  it('has checksums that sha256sum finds right', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
    expect(checked.trim().split('\n')).toHaveLength(7);
  });

  it('says of each artefact from which commit and lock file it is', () => {
    const { _type, predicateType, subject, predicate } = json<Statement>(`${name}.intoto.json`);
    expect([_type, predicateType]).toEqual(['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1']);
    const artefacts = readdirSync(out).filter((file) => file !== 'SHA256SUMS' && !file.endsWith('.intoto.json'));
    expect(subject.map((one) => one.name).sort()).toEqual(artefacts.sort());
    for (const one of subject) expect([one.name, one.digest.sha256]).toEqual([one.name, sha256Of(bytes(one.name))]);
    const { buildType, externalParameters, resolvedDependencies } = predicate.buildDefinition;
    expect([externalParameters.version, buildType]).toEqual([version, 'urn:session-broker:build:release:v1']);
    const lock = sha256Of(readFileSync(join(root, 'package-lock.json')));
    expect(resolvedDependencies).toContainEqual({ name: 'package-lock.json', digest: { sha256: lock } });
    const commit = execFileSync(toolPath('git'), ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    expect(resolvedDependencies[0]?.digest).toEqual({ gitCommit: commit });
    expect(predicate.runDetails.builder.id).toMatch(/^urn:/);
  });

  it('lists the same packages in both formats, the first as its schema wants it', () => {
    const folderOfSchemas = join(root, 'test/verify/node_modules/@cyclonedx/cyclonedx-library/res/schema');
    const schema = (file: string): object =>
      JSON.parse(readFileSync(join(folderOfSchemas, `${file}.SNAPSHOT.schema.json`), 'utf8')) as object;
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    for (const file of ['spdx', 'jsf-0.82']) {
      ajv.addSchema(schema(file), `http://cyclonedx.org/schema/${file}.SNAPSHOT.schema.json`);
    }
    const [cycloneDx, spdx] = [json<CycloneDx>(`${name}.cdx.json`), json<Spdx>(`${name}.spdx.json`)];
    ajv.validate(schema('bom-1.5'), cycloneDx);
    expect(ajv.errors ?? []).toEqual([]);
    expect(spdx).toMatchObject({
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      documentNamespace: expect.stringMatching(/^https?:\/\/[^#]+$/) as unknown,
    });
    expect(fullName(cycloneDx.metadata.component)).toBe(`session-broker@${version}`);
    const listed = spdx.packages.map((one) => `${one.name}@${one.versionInfo}`);
    expect(listed.sort()).toEqual([`session-broker@${version}`, ...cycloneDx.components.map(fullName)].sort());
    const table = bytes(`${name}.licences.md`).toString();
    for (const one of cycloneDx.components) {
      expect(table).toContain(`| ${fullName(one).replace(/@(?=[^@]*$)/, ' | ')} |`);
    }
  });

  it('has an image that another assembly of the same commit repeats, bit by bit', async () => {
    const again = join(folder, 'again');
    const { metadata } = json<CycloneDx>(`${name}.cdx.json`);
    const date = new Date(metadata.timestamp);
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1_000) };
    await run(process.execPath, [join(root, 'tools/assemble-image.mjs'), again], { cwd: root, env });
    const { archiveOf } = (await import(pathToFileURL(join(root, 'tools/release/archive.mjs')).href)) as {
      archiveOf: (folder: string, options: { date: Date }) => Buffer;
    };
    expect(sha256Of(archiveOf(again, { date }))).toBe(sha256Of(bytes(image)));
  });

  it('has archives in which nothing is of the machine that made them: one moment, no owner, the same rights', () => {
    for (const archive of [client, image, chart]) {
      const list = execFileSync('tar', ['--numeric-owner', '-tvzf', join(out, archive)], { encoding: 'utf8' });
      const files = list.trim().split('\n');
      const programs = files.filter((line) => line.startsWith('-rwxr-xr-x')).map((line) => line.split(' ').at(-1));
      expect([archive, programs]).toEqual([archive, archive === image ? ['bin/session-broker'] : []]);
      const kinds = files.map((line) =>
        line.replace(/^-rwxr-xr-x/, '-rw-r--r--').replace(/^(\S+ \S+) +\d+ (\S+ \S+) .*$/, '$1 $2'),
      );
      expect([archive, [...new Set(kinds)]]).toEqual([archive, [expect.stringMatching(/^-rw-r--r-- 0\/0 \d/)]]);
    }
  });

  describeWith(kubernetesPrograms, 'its chart', () => {
    it('renders the broker of this version, and refuses a value that it does not know', () => {
      const values = join(root, 'deploy/kubernetes/production/values.yaml');
      const configuration = `broker.configuration=${join(root, 'deploy/kubernetes/production/broker.yaml')}`;
      const given = ['--values', values, '--set-file', configuration];
      const rendered = helm('helm', ['template', 'shop', join(out, chart), ...given]);
      expect(rendered).toContain(`image: registry.example/session-broker:${version}`);
      const unknown = ['template', 'shop', join(out, chart), '--values', values, '--set', 'replicaz=3'];
      expect(() => helm('helm', unknown)).toThrow(/replicaz/);
    });
  });
});
