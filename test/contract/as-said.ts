import { Ajv } from 'ajv';
import { type Answer, contract, headersOf, type Json } from './contract.js';

/** Headers of HTTP itself: no contract lists these. */
const TRANSPORT = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** The same schema, but an object may have only members that it lists. */
function strictly(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(strictly);
  const copy = Object.fromEntries(Object.entries(schema).map(([name, child]) => [name, strictly(child)]));
  // What the gateway sends is passed on whole: there the contract lists no members.
  const isOpen = copy['properties'] === undefined && copy['additionalProperties'] === true;
  return copy['type'] === 'object' && !isOpen ? { ...copy, additionalProperties: false } : copy;
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const components = strictly(contract.components);

function faultsOf(schema: Json, value: unknown): unknown {
  const isValid = ajv.compile({ ...schema, components });
  return isValid(value) ? [] : isValid.errors;
}

/** Compares an answer with what the contract says of it: each header and the body, no more and no less; of headers, those that are asked for. */
export function expectAsSaid(
  said: Answer,
  { headers, body }: { readonly headers: Readonly<Partial<Record<string, string>>>; readonly body: unknown },
  isAsked: (name: string) => boolean = () => true,
): void {
  const named = headersOf(said);
  const own = Object.keys(headers).filter((name) => !TRANSPORT.has(name));
  expect(own.filter((name) => !named.has(name))).toEqual([]);
  for (const [name, { required, schema }] of [...named].filter(([name]) => isAsked(name))) {
    const value = headers[name];
    if (value === undefined) expect([name, required]).toEqual([name, undefined]);
    else expect([name, faultsOf(schema, schema['type'] === 'integer' ? Number(value) : value)]).toEqual([name, []]);
  }
  const [type, content] = Object.entries(said.content ?? {})[0] ?? [];
  expect(headers['content-type']?.split(';')[0]).toBe(type);
  if (content !== undefined) expect(faultsOf(content.schema, body)).toEqual([]);
}
