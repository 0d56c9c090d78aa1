import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { spdxOf } from '../bills-of-materials.mjs';
import { archiveOf } from './archive.mjs';
import { licenceTable } from './licence-table.mjs';

const run = promisify(execFile);
const json = (document) => `${JSON.stringify(document, undefined, 2)}\n`;

/** The client package, as `npm publish` takes it. @returns the files in it */
export async function packClient({ root, folder }) {
  const name = `client-${process.pid}`;
  const built = join(root, 'dist', name);
  try {
    await run(process.execPath, [join(root, 'tools/build-client.mjs'), name]);
    const { stdout } = await run('npm', ['pack', built, '--json', '--pack-destination', folder], { cwd: folder });
    const [{ filename, files }] = JSON.parse(stdout);
    return { file: basename(filename), contents: files.map(({ path }) => path) };
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

/** What the image contains besides Node.js, with its bills of materials and licences. */
export async function packImage({ root, folder, version, date }) {
  const content = mkdtempSync(join(tmpdir(), 'session-broker-release-'));
  try {
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) };
    await run(process.execPath, [join(root, 'tools/assemble-image.mjs'), content], { env });
    const name = `session-broker-${version}`;
    writeFileSync(join(folder, `session-broker-image-${version}.tar.gz`), archiveOf(content, { date }));
    const bill = JSON.parse(readFileSync(join(content, 'sbom.cdx.json'), 'utf8'));
    const packages = new Set(
      bill.components.map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`),
    );
    writeFileSync(join(folder, `${name}.cdx.json`), json(bill));
    writeFileSync(join(folder, `${name}.spdx.json`), json(await spdxOf(packages, date)));
    writeFileSync(join(folder, `${name}.licences.md`), licenceTable(bill));
  } finally {
    rmSync(content, { recursive: true, force: true });
  }
}

/** The chart, as `helm install` takes it. Helm's own `package` would write the time of packing into it. */
export function packChart({ root, folder, version, date }) {
  const chart = join(root, 'deploy/helm/session-broker');
  writeFileSync(join(folder, `session-broker-${version}.tgz`), archiveOf(chart, { prefix: 'session-broker/', date }));
}
