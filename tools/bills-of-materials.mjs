// Bills of materials for the content of an image, in both common formats, from what npm knows of the lock file. The
// same content gives the same bill: no ID in it is random, and its timestamp is the given one.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Asks for everything: when told to omit dev dependencies, npm also omits those that are peer dependencies too. */
async function npmBill(format) {
  const args = ['sbom', `--sbom-format=${format}`, '--sbom-type=application', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: MAX_OUTPUT });
  return JSON.parse(stdout);
}

/** An identifier made of the document's digest: a different document has a different one. */
function identifierOf(document) {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest);
  return `${parts[0]}-${parts[1]}-8${parts[2]}-8${parts[3]}-${parts[4]}`;
}

const isoOf = (date) => date.toISOString().replace(/\.\d+Z$/, 'Z');

function assertAll(found, packages, format) {
  if (found.length !== packages.size)
    throw new Error(`npm sbom (${format}) does not know every package that is loaded`);
}

/**
 * CycloneDX.
 * @param packages each as `name@version`
 * @param date if left out, the bill has no timestamp
 */
export async function cycloneDxOf(packages, date) {
  const { serialNumber: _, metadata, ...bill } = await npmBill('cyclonedx');
  const { timestamp: __, ...described } = metadata;
  const components = bill.components.filter(({ group, name, version }) =>
    packages.has(`${group === undefined ? '' : `${group}/`}${name}@${version}`),
  );
  assertAll(components, packages, 'CycloneDX');
  // npm uses the name of the folder.
  const component = { ...metadata.component, name: metadata.component['bom-ref'].replace(/@[^@]*$/, '') };
  const refs = new Set([component['bom-ref'], ...components.map((one) => one['bom-ref'])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  const moment = date === undefined ? {} : { timestamp: isoOf(date) };
  const document = { ...bill, metadata: { ...moment, ...described, component }, components, dependencies };
  return { ...document, serialNumber: `urn:uuid:${identifierOf(document)}` };
}

/**
 * SPDX.
 * @param packages each as `name@version`
 * @param date of its creation, which the format requires
 */
export async function spdxOf(packages, date) {
  const { documentNamespace: _, ...bill } = await npmBill('spdx');
  const described = new Set(bill.documentDescribes);
  const found = bill.packages.filter(({ name, versionInfo }) => packages.has(`${name}@${versionInfo}`));
  assertAll(found, packages, 'SPDX');
  const own = bill.packages
    .filter(({ SPDXID }) => described.has(SPDXID))
    .map((one) => ({ ...one, primaryPackagePurpose: 'APPLICATION' }));
  const ids = new Set([bill.SPDXID, ...[...own, ...found].map(({ SPDXID }) => SPDXID)]);
  const document = {
    ...bill,
    creationInfo: { ...bill.creationInfo, created: isoOf(date) },
    packages: [...own, ...found],
    relationships: bill.relationships.filter(
      ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
    ),
  };
  const { name } = document;
  return {
    ...document,
    documentNamespace: `http://spdx.org/spdxdocs/${name.replace('@', '-')}-${identifierOf(document)}`,
  };
}
