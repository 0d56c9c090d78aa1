import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Json = Record<string, unknown>;

export interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Json }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Json }> }>;
}

export interface Contract extends Json {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Json & { readonly properties: Record<string, Json> }> };
}

/** The contract as it is committed. */
export const contractText = readFileSync(fileURLToPath(new URL('../../docs/openapi.json', import.meta.url)), 'utf8');
export const contract = JSON.parse(contractText) as Contract;
