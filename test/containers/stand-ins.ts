import { cp, link, mkdir, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from './child-processes.js';
import { BASE_PACKAGES, type DebianArchives } from './debian-archives.js';
import { docker, type Engine } from './engine.js';

interface Place {
  readonly root: string;
  readonly archives: DebianArchives;
  /** The folder of the npm that runs this program. */
  readonly npm: string;
}

const BASE = 'stand-in:base';
const FOLDER = '/stand-ins';

/** As in the published images: a shell script runs before every command. */
const REDIS = `FROM ${BASE}
RUN printf '#!/bin/sh\\nexec "$@" --protected-mode no\\n' > /usr/local/bin/docker-entrypoint.sh && chmod 755 /usr/local/bin/docker-entrypoint.sh
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
`;
const NGINX = `FROM ${BASE}
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
`;
const PROMETHEUS = `FROM ${BASE}
RUN mkdir -p /prometheus && chown nobody:nogroup /prometheus
USER nobody
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
`;
const NODE = `FROM ${BASE}
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY npmrc /usr/local/etc/npmrc
COPY docker-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN chmod 755 /usr/local/bin/node /usr/local/bin/docker-entrypoint.sh && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["node"]
`;
const ENTRYPOINT = `#!/bin/sh
set -e
if [ "\${1#-}" != "\${1}" ] || [ -z "$(command -v "\${1}")" ]; then set -- node "$@"; fi
exec "$@"
`;

/**
 * No image registry can be reached: these have the same names, made of Debian's packages and the Node.js of the lock
 * file.
 */
export async function makeStandIns(engine: Engine, place: Place): Promise<void> {
  const folder = join(place.root, FOLDER);
  await mkdir(folder, { mode: 0o755 });
  const base = await place.archives.archive('base', BASE_PACKAGES);
  await link(base, join(folder, 'base.tar')).catch(() => must(['cp', base, join(folder, 'base.tar')]));
  await docker(engine, 'import', join(FOLDER, 'base.tar'), BASE);
  const compose = readFileSync(join(place.root, engine.folder, 'docker-compose.yml'), 'utf8');
  const dockerfile = readFileSync(join(place.root, engine.folder, 'deploy/Dockerfile'), 'utf8');
  const named = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? 'unnamed';
  await build({ engine, folder }, 'redis', [named(compose, /image: (redis:\S+)/), REDIS]);
  await build({ engine, folder }, 'nginx', [named(compose, /image: (nginx:\S+)/), NGINX]);
  await build({ engine, folder }, 'prometheus', [named(compose, /image: (prom\/prometheus:\S+)/), PROMETHEUS]);
  const node = join(folder, 'node');
  await mkdir(node);
  await cp(process.execPath, join(node, 'node'));
  await cp(place.npm, join(node, 'npm'), { recursive: true, dereference: true });
  await cp('/etc/ssl/certs/ca-certificates.crt', join(node, 'ca-certificates.crt'));
  await writeFile(join(node, 'npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n');
  await writeFile(join(node, 'docker-entrypoint.sh'), ENTRYPOINT);
  await build({ engine, folder }, 'node', [named(dockerfile, /^ARG NODE_IMAGE=(\S+)$/m), NODE]);
}

async function build(
  { engine, folder }: { readonly engine: Engine; readonly folder: string },
  name: string,
  [tag, dockerfile]: readonly [string, string],
): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'Dockerfile'), dockerfile);
  await docker(engine, 'build', '--quiet', '-t', tag, join(FOLDER, name));
}
