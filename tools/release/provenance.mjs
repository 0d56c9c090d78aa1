import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from './checksums.mjs';

const BUILD_TYPE = 'urn:session-broker:build:release:v1';

/**
 * An in-toto statement with SLSA provenance: what was built, from which commit and lock file, and by whom. It has no
 * timestamps and no ID of the run, so that anyone who builds the same thing gets the same statement.
 * @param artefacts their names in the folder
 */
export function provenanceOf({ root, folder, artefacts, version, source, builder }) {
  const { name, repository, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const uri = repository?.url ?? `git+urn:${name}`;
  const modified = source.isModified ? { annotations: { modified: true } } : {};
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artefacts.map((file) => ({ name: file, digest: { sha256: sha256Of(join(folder, file)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, command: 'npm ci && npm run release' },
        internalParameters: { node: process.versions.node, typescript: devDependencies.typescript },
        resolvedDependencies: [
          ...(source.commit === undefined ? [] : [{ uri, digest: { gitCommit: source.commit }, ...modified }]),
          { name: 'package-lock.json', digest: { sha256: sha256Of(join(root, 'package-lock.json')) } },
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}
