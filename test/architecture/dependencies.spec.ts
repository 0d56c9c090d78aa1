import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly deprecated?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const REGISTRY = 'https://registry.npmjs.org/';
const root = join(import.meta.dirname, '..', '..');

function lockedPackages(lock: string): (Locked & { path: string })[] {
  const { packages } = JSON.parse(readFileSync(join(root, lock), 'utf8')) as { packages: Record<string, Locked> };
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, locked]) => ({ path, ...locked }));
}

/** What may be shipped in a product of any licence. */
const SHIPPED = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Python-2.0'];
/** Also allowed for tools that stay here: their files are neither changed nor shipped. */
const TOOLS = ['MPL-2.0', 'PSF-2.0', 'CC-BY-4.0', 'CC0-1.0', 'Zlib', 'Unlicense'];

/** `(MIT AND Zlib)` needs each of them, `(MIT OR CC0-1.0)` one of them. */
function isAllowed(expression: string | undefined, allowed: readonly string[]): boolean {
  if (expression === undefined) return false;
  const bare = expression.replace(/[()]/g, '');
  if (bare.includes(' OR ')) return bare.split(' OR ').some((licence) => allowed.includes(licence));
  return bare.split(' AND ').every((licence) => allowed.includes(licence));
}

describe.each(['package-lock.json', 'test/verify/package-lock.json'])('the dependencies in %s', (lock) => {
  const packages = lockedPackages(lock);
  const refused = (list: typeof packages, allowed: readonly string[]): string[] =>
    list.filter(({ license }) => !isAllowed(license, allowed)).map(({ path, license }) => `${path}: ${license}`);

  it('are many, so that the tests below have something to check', () => {
    expect(packages.length).toBeGreaterThan(350);
  });

  it('have licences that allow shipping them', () => {
    expect(
      refused(
        packages.filter(({ dev }) => dev !== true),
        SHIPPED,
      ),
    ).toEqual([]);
  });

  it('for development have licences that allow using them', () => {
    expect(refused(packages, [...SHIPPED, ...TOOLS])).toEqual([]);
  });

  it('are not abandoned by their makers, where production loads them', () => {
    const deprecated = packages.filter((locked) => locked.deprecated !== undefined && locked.dev !== true);
    expect(deprecated.map(({ path, deprecated: why }) => `${path}: ${why}`)).toEqual([]);
  });

  it('come from the registry, with a hash each', () => {
    const other = packages.filter(
      // If `resolved` is missing, npm asks the configured registry: the hash ensures that the package is the same.
      ({ resolved = REGISTRY, integrity }) => !resolved.startsWith(REGISTRY) || integrity === undefined,
    );
    expect(other.map(({ path }) => path)).toEqual([]);
  });
});

describe('the packages of npm ci', () => {
  const declaredIn = (manifest: string): Record<string, string> => {
    const text = readFileSync(join(root, manifest), 'utf8');
    const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Record<string, Record<string, string>>;
    return { ...dependencies, ...devDependencies };
  };

  it('are few enough for a first look: on a machine at most 450', () => {
    const isFor = (only: readonly string[] | undefined, own: string): boolean =>
      only === undefined || only.includes(own);
    const installed = lockedPackages('package-lock.json').filter(
      ({ os, cpu, libc }) => isFor(os, 'linux') && isFor(cpu, 'x64') && isFor(libc, 'glibc'),
    );
    expect(installed.length).toBeLessThanOrEqual(450);
  });

  it('have the same version in test/verify', () => {
    const own = declaredIn('package.json');
    const both = Object.entries(declaredIn('test/verify/package.json')).filter(([name]) => name in own);
    expect(both.length).toBeGreaterThan(0);
    expect(both.filter(([name, version]) => own[name] !== version)).toEqual([]);
  });
});
