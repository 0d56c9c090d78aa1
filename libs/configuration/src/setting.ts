import { Type } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import 'reflect-metadata';
import type { TextRule } from './value-rule.js';

export type SettingsClass = new () => object;

/** What a reader is told of a setting. docs/configuration.md is written from it: `npm run reference`. */
interface Described {
  /** Markdown, on one line. */
  readonly meaning: string;
  /** In the words of the fault that refuses everything else: it finishes the sentence "must be …". */
  readonly allowed: string;
}

/** What kind of value a setting holds, as the file's structure is checked and the settings table is written. */
export type Shape =
  | ({ readonly kind: 'text' | 'number' | 'flag' | 'flag_or_text' } & Described)
  | ({ readonly kind: 'texts'; readonly itemProblem: Check } & Described)
  | { readonly kind: 'section'; readonly of: SettingsClass }
  | { readonly kind: 'list'; readonly of: SettingsClass };

const shapes = new Map<object, Map<string, Shape>>();

/** The settings of a class, in the order of their declaration. */
export function shapesOf(settings: SettingsClass): ReadonlyMap<string, Shape> {
  return shapes.get(settings.prototype as object) ?? new Map<string, Shape>();
}

interface SettingOptions {
  /** May be left out without having a default. */
  readonly optional?: boolean;
}

/** Says what is wrong with a value, or undefined. Sees every value but an absent optional one. */
export type Check = (value: unknown) => string | undefined;

function setting(shape: Shape, check: Check, options: SettingOptions = {}): PropertyDecorator {
  const validate = ValidateBy({
    name: 'setting',
    validator: {
      validate: (value: unknown) => check(value) === undefined,
      defaultMessage: (details) => check(details?.value) ?? '',
    },
  });
  return (target, property) => {
    const known = shapes.get(target) ?? new Map<string, Shape>();
    shapes.set(target, known.set(String(property), shape));
    validate(target, property);
    if (options.optional === true) IsOptional()(target, property);
  };
}

export function text(meaning: string, rule: TextRule, options?: SettingOptions): PropertyDecorator {
  return setting({ kind: 'text', meaning, allowed: rule.expects }, (value) => textProblem(value, rule), options);
}

export function oneOf(meaning: string, words: readonly string[], options?: SettingOptions): PropertyDecorator {
  return text(meaning, { expects: `one of ${words.join(', ')}`, accepts: (value) => words.includes(value) }, options);
}

export function wholeNumber(meaning: string, least: number, most: number): PropertyDecorator {
  const allowed = `a whole number from ${least} to ${most}`;
  return setting({ kind: 'number', meaning, allowed }, (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `must be ${allowed}, without quotes`,
  );
}

export function flag(meaning: string): PropertyDecorator {
  const allowed = 'true or false';
  return setting({ kind: 'flag', meaning, allowed }, (value) =>
    typeof value === 'boolean' ? undefined : `must be ${allowed}, without quotes`,
  );
}

export function flagOr(meaning: string, word: string): PropertyDecorator {
  const allowed = `true, false or ${word}`;
  return setting({ kind: 'flag_or_text', meaning, allowed }, (value) =>
    typeof value === 'boolean' || value === word ? undefined : `must be ${allowed}`,
  );
}

/** A sequence of texts: the class checks how many there are, the reading of the file checks each one at its own path. */
export function texts(meaning: string, rule: TextRule, least: number): PropertyDecorator {
  const itemProblem: Check = (value) => textProblem(value, rule);
  const allowed = least === 0 ? `each ${rule.expects}` : `at least ${least}, each ${rule.expects}`;
  return setting({ kind: 'texts', itemProblem, meaning, allowed }, (value) => countProblem(value, least));
}

export function section(of: SettingsClass, options?: SettingOptions): PropertyDecorator {
  const check: Check = (value) => (value instanceof of ? undefined : 'is missing');
  return nested(of, setting({ kind: 'section', of }, check, options));
}

export function list(of: SettingsClass, least: number): PropertyDecorator {
  return nested(
    of,
    setting({ kind: 'list', of }, (value) => countProblem(value, least)),
  );
}

function nested(of: SettingsClass, own: PropertyDecorator): PropertyDecorator {
  return (target, property) => {
    own(target, property);
    Type(() => of)(target, property);
    ValidateNested()(target, property);
  };
}

function textProblem(value: unknown, rule: TextRule): string | undefined {
  if (value === undefined) return `is missing: it must be ${rule.expects}`;
  if (typeof value !== 'string') return `must be text: ${rule.expects}; put the value in quotes`;
  return rule.accepts(value) ? undefined : `must be ${rule.expects}`;
}

function countProblem(value: unknown, least: number): string | undefined {
  if (value === undefined) return 'is missing';
  return Array.isArray(value) && value.length >= least ? undefined : `must have at least ${least} item`;
}
