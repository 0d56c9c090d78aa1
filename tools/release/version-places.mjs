import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Places that repeat the version of package.json, because those who read it there have no package.json. */
const places = [
  { files: 'package-lock.json', pattern: /^ {2,6}"version": "([^"]+)"/gm, first: 2 },
  { files: 'libs/client/package.json', pattern: /^ {2}"version": "([^"]+)"/gm },
  { files: 'libs/{client,program}/src/version.ts', pattern: /VERSION = '([^']+)'/g },
  { files: 'deploy/helm/*/Chart.yaml', pattern: /^(?:version|appVersion): '?([^'\s]+)'?$/gm },
  { files: '{docker-compose.yml,{deploy,docs}/**/*.{yaml,yml,md}}', pattern: /\bsession-broker:(\d+\.\d+\.\d+)/g },
  { files: 'deploy/kubernetes/**/*.yaml', pattern: /app\.kubernetes\.io\/version: '(\d+\.\d+\.\d+)'/g },
  // What docs/releasing.md shows is of one release, and stays so.
  {
    files: '{libs/client/README.md,docs/**/!(releasing).md}',
    pattern: /\bsession-broker(?:-client|-image)?-(\d+\.\d+\.\d+)\.t(?:gz|ar)/g,
  },
];

const versionOf = (root) => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** Every place, with the version found there. */
export function versionPlaces(root) {
  return places.flatMap(({ files, pattern, first = Infinity }) =>
    globSync(files, { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
        .slice(0, first)
        .map(([, version]) => ({ file, version })),
    ),
  );
}

/** Places that differ from package.json. */
export function versionProblems(root) {
  const version = versionOf(root);
  return versionPlaces(root)
    .filter((place) => place.version !== version)
    .map(
      (place) =>
        `${place.file} has ${place.version}, and package.json ${version}: node tools/release/write-version.mjs`,
    );
}

/** Writes the version of package.json into every place. @returns the files that were changed */
export function writeVersion(root) {
  const version = versionOf(root);
  const changed = new Set();
  for (const { files, pattern, first = Infinity } of places) {
    for (const file of globSync(files, { cwd: root })) {
      const before = readFileSync(join(root, file), 'utf8');
      let left = first;
      const after = before.replace(pattern, (all, old) => (left-- > 0 ? all.replace(old, version) : all));
      if (after === before) continue;
      writeFileSync(join(root, file), after);
      changed.add(file);
    }
  }
  return [...changed];
}
