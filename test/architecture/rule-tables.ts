import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface BoundaryRule {
  readonly name: string;
  readonly comment: string;
}

export interface RuleTables {
  readonly rules: readonly BoundaryRule[];
  readonly libLayers: Readonly<Record<string, readonly string[]>>;
  readonly appLayers: Readonly<Record<string, readonly string[]>>;
  readonly brokerFeatures: Readonly<Record<string, readonly string[]>>;
  readonly soleImporters: Readonly<Record<string, readonly string[]>>;
  readonly builtinHomes: Readonly<Record<string, { modules: readonly string[]; homes: readonly string[] }>>;
  readonly domainLibs: readonly string[];
}

const load = async (path: string): Promise<Record<string, unknown>> =>
  (await import(pathToFileURL(`${root}${path}`).href)) as Record<string, unknown>;

/** The tables and the rules as lint uses them: read from the very same files, so a new rule is a new test. */
export async function loadRuleTables(): Promise<RuleTables> {
  const config = await load('.dependency-cruiser.mjs');
  const layers = await load('tools/layers.mjs');
  const { forbidden } = config['default'] as { forbidden: readonly BoundaryRule[] };
  return { ...(layers as unknown as Omit<RuleTables, 'rules'>), rules: forbidden };
}
