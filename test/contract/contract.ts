import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Json = Record<string, unknown>;

export interface Header {
  readonly required?: boolean;
  readonly schema: Json;
}

export interface Answer {
  readonly content?: Record<string, { readonly schema: Json }>;
  readonly headers?: Record<string, { readonly $ref: string }>;
}

export interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Json }> };
  readonly responses: Record<string, Answer>;
}

export interface Contract extends Json {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, Json & { readonly properties: Record<string, Json> }>;
    readonly headers: Record<string, Header>;
  };
}

/** The committed contract. */
export const contractText = readFileSync(fileURLToPath(new URL('../../docs/openapi.json', import.meta.url)), 'utf8');
export const contract = JSON.parse(contractText) as Contract;

/** Every operation, with a readable name. */
export const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method,
    path,
    operation,
  })),
);

/** The headers that the contract lists for an answer, in lower case. */
export function headersOf({ headers = {} }: Answer): ReadonlyMap<string, Header> {
  return new Map(
    Object.entries(headers).map(([name, { $ref }]) => {
      const header = contract.components.headers[$ref.slice($ref.lastIndexOf('/') + 1)];
      if (header === undefined) throw new Error(`the contract has no ${$ref}`);
      return [name.toLowerCase(), header];
    }),
  );
}
