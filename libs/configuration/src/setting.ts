import { oneWordOf, type TextRule } from './value-rule.js';

export type SettingsClass = new () => object;

/** What a reader is told about a setting. docs/configuration.md is generated from it: `npm run reference`. */
interface Described {
  /** Markdown, on one line. */
  readonly meaning: string;
  /** In the words of the fault for any other value: it completes the sentence "must be …". */
  readonly allowed: string;
}

/** A value, or each item of a sequence of texts. */
interface Checked {
  /** What is wrong with a given value, if anything. */
  readonly problemOf: (value: unknown) => string | undefined;
  readonly rule?: TextRule;
}

type Kind =
  | ({ readonly kind: 'text' | 'number' | 'flag' | 'flag_or_text' } & Described & Checked)
  | ({ readonly kind: 'texts'; readonly least: number } & Described & Checked)
  | { readonly kind: 'section'; readonly of: SettingsClass }
  | { readonly kind: 'list'; readonly of: SettingsClass; readonly least: number; readonly described?: DescribedList };

/** A sequence that means something as a whole, not only through its items. */
interface DescribedList {
  /** Markdown, on one line. */
  readonly meaning: string;
  readonly most: number;
  /** How it is written; its default, if it has one. */
  readonly example: string;
}

interface SettingOptions {
  /** May be omitted without having a default. */
  readonly optional?: boolean;
}

/** What kind of value a setting holds, and in which property of its class. */
export type Shape = Kind & SettingOptions & { readonly property: string };

const shapes = new Map<object, Map<string, Shape>>();

/** The settings of a class by their names in the file, in the order of declaration. */
export function shapesOf(settings: SettingsClass): ReadonlyMap<string, Shape> {
  return shapes.get(settings.prototype as object) ?? new Map<string, Shape>();
}

/** A duration is text in the file and milliseconds in the program: the property `everyMs` is the setting `every`. */
function setting(kind: Kind, options?: SettingOptions): PropertyDecorator {
  return (target, key) => {
    const property = String(key);
    const known = shapes.get(target) ?? new Map<string, Shape>();
    shapes.set(target, known.set(property.replace(/Ms$/, ''), { ...kind, ...options, property }));
  };
}

/** A text, or what the rule converts it to: a URL, milliseconds, an address. */
export function text(meaning: string, rule: TextRule, options?: SettingOptions): PropertyDecorator {
  return setting({ kind: 'text', meaning, allowed: rule.expects, ...textBy(rule) }, options);
}

export function oneOf(meaning: string, words: readonly string[], options?: SettingOptions): PropertyDecorator {
  return text(meaning, oneWordOf(words), options);
}

export function wholeNumber(meaning: string, least: number, most: number): PropertyDecorator {
  return setting(wholeNumberBetween(meaning, least, most));
}

export function optionalWholeNumber(meaning: string, least: number, most: number): PropertyDecorator {
  return setting(wholeNumberBetween(meaning, least, most), { optional: true });
}

function wholeNumberBetween(meaning: string, least: number, most: number): Kind {
  const allowed = `a whole number from ${least} to ${most}`;
  const accepts = (value: unknown): boolean =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
  const problemOf = (value: unknown): string | undefined =>
    accepts(value) ? undefined : `must be ${allowed}${typeof value === 'number' ? '' : ', without quotes'}`;
  return { kind: 'number', meaning, allowed, problemOf };
}

export function flag(meaning: string): PropertyDecorator {
  const allowed = 'true or false';
  const problemOf = (value: unknown): string | undefined =>
    typeof value === 'boolean' ? undefined : `must be ${allowed}, without quotes`;
  return setting({ kind: 'flag', meaning, allowed, problemOf });
}

export function flagOr(meaning: string, word: string): PropertyDecorator {
  const allowed = `true, false or ${word}`;
  const problemOf = (value: unknown): string | undefined =>
    typeof value === 'boolean' || value === word ? undefined : `must be ${allowed}`;
  return setting({ kind: 'flag_or_text', meaning, allowed, problemOf });
}

export function texts(meaning: string, rule: TextRule, least: number): PropertyDecorator {
  const allowed = least === 0 ? `each ${rule.expects}` : `at least ${least}, each ${rule.expects}`;
  return setting({ kind: 'texts', least, meaning, allowed, ...textBy(rule) });
}

export function section(of: SettingsClass, options?: SettingOptions): PropertyDecorator {
  return setting({ kind: 'section', of }, options);
}

export function list(of: SettingsClass, least: number, described?: DescribedList): PropertyDecorator {
  return setting({ kind: 'list', of, least, ...(described === undefined ? {} : { described }) });
}

function textBy(rule: TextRule): Checked {
  return {
    rule,
    problemOf: (value) => {
      if (typeof value !== 'string') return `must be text: ${rule.expects}; put the value in quotes`;
      return rule.accepts(value) ? undefined : `must be ${rule.expects}`;
    },
  };
}
