import { Type } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import 'reflect-metadata';
import type { TextRule } from './value-rule.js';

export type SettingsClass = new () => object;

/** What kind of value a setting holds, as the file's structure is checked and the settings table is proved. */
export type Shape =
  | { readonly kind: 'text' | 'number' | 'flag' | 'flag_or_text' }
  | { readonly kind: 'texts'; readonly itemProblem: Check }
  | { readonly kind: 'section' | 'list'; readonly of: SettingsClass };

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

export function text(rule: TextRule, options?: SettingOptions): PropertyDecorator {
  return setting({ kind: 'text' }, (value) => textProblem(value, rule), options);
}

export function oneOf(allowed: readonly string[], options?: SettingOptions): PropertyDecorator {
  return text({ expects: `one of ${allowed.join(', ')}`, accepts: (value) => allowed.includes(value) }, options);
}

export function wholeNumber(least: number, most: number): PropertyDecorator {
  const expects = `must be a whole number from ${least} to ${most}, without quotes`;
  return setting({ kind: 'number' }, (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most ? undefined : expects,
  );
}

export function flag(): PropertyDecorator {
  return setting({ kind: 'flag' }, (value) =>
    typeof value === 'boolean' ? undefined : 'must be true or false, without quotes',
  );
}

export function flagOr(word: string): PropertyDecorator {
  return setting({ kind: 'flag_or_text' }, (value) =>
    typeof value === 'boolean' || value === word ? undefined : `must be true, false or ${word}`,
  );
}

/** A sequence of texts: the class checks how many there are, the reading of the file checks each one at its own path. */
export function texts(rule: TextRule, least: number): PropertyDecorator {
  const itemProblem: Check = (value) => textProblem(value, rule);
  return setting({ kind: 'texts', itemProblem }, (value) => countProblem(value, least));
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
