import { types } from 'node:util';
import { BrokerError } from '#libs/errors';
import { redactText } from './redact-text.js';

const MAX_CAUSE_DEPTH = 5;
const WIDEST_AGGREGATE = 4;
const MAX_STACK_LINES = 20;

interface ErrorFields {
  name: string;
  code?: string | number;
  detail?: string;
  kind?: string;
  msgCode?: string;
  syscall?: string;
  httpStatus?: number;
  requestId?: string;
  stack?: string;
  cause?: ErrorFields | string;
  errors?: (ErrorFields | string)[];
}

export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

/**
 * What may be printed of an error: an allow-list, because libraries attach commands, bodies and headers to their
 * errors. The message of a foreign error is left out too (a JSON parser quotes its input in it); name, code and stack
 * remain. `detail` is taken only from our own errors, which promise to keep secrets out of it.
 */
export function errorFields(error: Error, depth = 0): ErrorFields {
  const fields: ErrorFields = { name: identifier(read(error, 'name')) ?? 'Error' };
  const code = read(error, 'code');
  assign(fields, 'code', Number.isSafeInteger(code) ? (code as number) : identifier(code));
  if (error instanceof BrokerError && error.detail !== undefined) fields.detail = redactText(error.detail);
  for (const key of ['kind', 'msgCode', 'syscall'] as const) assign(fields, key, identifier(read(error, key)));
  assign(fields, 'httpStatus', statusOf(read(error, 'httpStatus')));
  assign(fields, 'requestId', requestIdOf(read(error, 'requestId')));
  assign(fields, 'stack', framesOf(read(error, 'stack'), read(error, 'message')));
  assign(fields, 'cause', related(read(error, 'cause'), depth));
  const errors = read(error, 'errors');
  if (Array.isArray(errors)) {
    fields.errors = errors.slice(0, WIDEST_AGGREGATE).map((each: unknown) => related(each, depth) ?? '[empty]');
  }
  return fields;
}

function assign<K extends keyof ErrorFields>(fields: ErrorFields, key: K, value: ErrorFields[K] | undefined): void {
  if (value !== undefined) fields[key] = value;
}

function related(value: unknown, depth: number): ErrorFields | string | undefined {
  if (value === undefined || value === null) return undefined;
  if (depth >= MAX_CAUSE_DEPTH) return '[deeper causes left out]';
  return isError(value) ? errorFields(value, depth + 1) : '[not an Error]';
}

/** An error may have its own getters; one that throws must not take the log line with it. */
function read(error: Error, key: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function identifier(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(value) ? redactText(value) : undefined;
}

function requestIdOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? redactText(value) : undefined;
}

function statusOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

const FRAME = /^ {4}at (?:[^\n]{0,256} \()?(?:file:\/\/|node:|\/|[A-Za-z]:\\|<anonymous>|native)[^\n()]{0,512}\)?$/;

/**
 * Only the frames. The header of a stack repeats the message, which may contain data and lines that look like frames,
 * so it is cut off using the message that it must start with; a stack that starts differently cannot be split, and is
 * left out.
 */
function framesOf(stack: unknown, message: unknown): string | undefined {
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined;
  const header = /^[\w$. [\]]{1,128}/.exec(stack)?.[0];
  if (header === undefined) return undefined;
  const expected = message === '' ? `${header}\n` : `${header}: ${message}`;
  if (!stack.startsWith(expected)) return undefined;
  const frames = stack
    .slice(expected.length)
    .split('\n', MAX_STACK_LINES + 1)
    .filter((line) => FRAME.test(line));
  return frames.length === 0 ? undefined : frames.map((line) => redactText(line.trim())).join('\n');
}
