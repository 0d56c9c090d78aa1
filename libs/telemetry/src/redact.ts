import { types } from 'node:util';
import { errorFields, isError } from './error-fields.js';
import { REDACTED, redactText } from './redact-text.js';
import { isSecretName } from './secret-names.js';

const MAX_DEPTH = 8;
const WIDEST = 64;
const MAX_VALUES = 2_000;
const MAX_KEY_LENGTH = 128;

/** Members that only a private JWK has (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_JWK_MEMBERS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/** Keys under which a list of pairs stores a name, with the secret next to it under `value`. */
const NAME_KEYS = ['name', 'key', 'header', 'property', 'field'];

interface Walk {
  readonly ancestors: Set<object>;
  valuesLeft: number;
}

type Fields = Record<string, unknown>;

/**
 * A copy of `value` that is fit to print: plain data without secrets, at most 8 deep, 64 wide, 2 000 values and 4 096
 * characters per text. Whatever is stored under a secret name is replaced as a whole, at any depth; texts lose anything
 * that looks like a credential; errors go through their allow-list; binary data and class instances are named, never
 * shown. No getter or `toJSON` of the value runs. It never throws and never changes `value`.
 */
export function redact(value: unknown): unknown {
  return walk(value, { ancestors: new Set(), valuesLeft: MAX_VALUES });
}

function walk(value: unknown, state: Walk): unknown {
  state.valuesLeft -= 1;
  if (state.valuesLeft < 0) return '[left out]';
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return redactText(String(value));
    case 'boolean':
    case 'undefined':
      return value;
    case 'object':
      return value === null ? null : walkObject(value, state);
    case 'function':
    case 'symbol':
      return `[${typeof value}]`;
  }
}

function walkObject(value: object, state: Walk): unknown {
  if (state.ancestors.has(value)) return '[circular]';
  if (state.ancestors.size >= MAX_DEPTH) return '[deeper]';
  state.ancestors.add(value);
  try {
    return copyOf(value, state);
  } catch {
    // A proxy or an exotic object may throw anything when it is inspected: the line is still written.
    return '[unreadable]';
  } finally {
    state.ancestors.delete(value);
  }
}

function copyOf(value: object, state: Walk): unknown {
  if (types.isProxy(value)) return '[proxy]';
  if (isError(value)) return errorFields(value);
  if (Array.isArray(value)) return copyOfList(value, state);
  if (types.isMap(value)) return copyOfEntries([...Map.prototype.entries.call(value)], state);
  if (types.isSet(value)) return copyOfList([...Set.prototype.values.call(value)], state);
  if (types.isDate(value)) return dateText(value);
  if (value instanceof URL) return redactText(value.href);
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[binary, ${value.byteLength} bytes]`;
  return isPlain(value) ? copyOfEntries(dataEntries(value), state) : `[${classNameOf(value)}]`;
}

/** Also true for objects of another realm: the prototype of a plain object has no prototype itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Own enumerable properties; an accessor is named, not run. */
function dataEntries(value: object): [string, unknown][] {
  return Object.keys(value)
    .slice(0, WIDEST + 1)
    .map((key) => {
      const property = Object.getOwnPropertyDescriptor(value, key);
      return [key, property !== undefined && 'value' in property ? (property.value as unknown) : '[accessor]'];
    });
}

function copyOfEntries(entries: readonly (readonly [unknown, unknown])[], state: Walk): unknown {
  const keys = entries.map(([key]) => key);
  if (keys.includes('kty') && keys.some((key) => PRIVATE_JWK_MEMBERS.includes(key as string))) return REDACTED;
  const namesSecret = entries.some(([key, value]) => NAME_KEYS.includes(key as string) && isSecretText(value));
  // Without a prototype, so that a key named __proto__ is a key like any other.
  const copy = Object.create(null) as Fields;
  for (const [key, value] of entries.slice(0, WIDEST)) {
    const secret = isSecretText(key) || (namesSecret && key === 'value');
    copy[keyText(key)] = secret ? withheld(value) : walk(value, state);
  }
  if (entries.length > WIDEST) copy['…'] = '[more left out]';
  return copy;
}

/** In a flat list of names and values, such as `rawHeaders`, the value after a secret name is removed as well. */
function copyOfList(items: readonly unknown[], state: Walk): unknown {
  const copy = Array.from({ length: Math.min(items.length, WIDEST) }, (_, index) => {
    const item = elementOf(items, index);
    return index > 0 && isSecretText(elementOf(items, index - 1)) ? withheld(item) : walk(item, state);
  });
  return items.length > WIDEST ? [...copy, `[${items.length - WIDEST} more]`] : copy;
}

function elementOf(items: readonly unknown[], index: number): unknown {
  const property = Object.getOwnPropertyDescriptor(items, index);
  return property !== undefined && 'get' in property ? '[accessor]' : (property?.value as unknown);
}

function isSecretText(value: unknown): boolean {
  return typeof value === 'string' && isSecretName(value);
}

/** The absence of a value is not a secret, and hiding it would mislead whoever reads the line. */
function withheld(value: unknown): unknown {
  return value === undefined || value === null ? value : REDACTED;
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return redactText(key).slice(0, MAX_KEY_LENGTH);
  return typeof key === 'number' || typeof key === 'boolean' ? String(key) : `[${typeof key}]`;
}

function dateText(value: Date): string {
  const epochMs = Date.prototype.getTime.call(value);
  return Number.isNaN(epochMs) ? '[invalid date]' : Date.prototype.toISOString.call(value);
}

function classNameOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as object;
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  const name: unknown =
    typeof constructor === 'function' ? Object.getOwnPropertyDescriptor(constructor, 'name')?.value : undefined;
  return typeof name === 'string' && /^[A-Za-z]\w{0,63}$/.test(name) ? name : 'object';
}
