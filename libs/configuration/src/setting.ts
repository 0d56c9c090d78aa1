import type { Tree } from './read-yaml.js';
import { oneWordOf, type TextRule } from './value-rule.js';

/** The settings of a section by the names of their options: a duration is `every` in the file and `everyMs` here. */
export type Fields = Readonly<Record<string, Setting<unknown>>>;

/** A single value, or each item of a sequence of texts. */
interface Checked {
  /** In the words of the fault for any other value: it completes the sentence "must be …". */
  readonly allowed: string;
  /** What is wrong with a given value, if anything. */
  readonly problemOf: (value: unknown) => string | undefined;
  readonly rule?: TextRule<unknown>;
}

type Kind =
  | ({ readonly kind: 'text' | 'number' | 'flag' | 'flag or text' } & Checked)
  | ({ readonly kind: 'texts'; readonly least: number } & Checked)
  | { readonly kind: 'section'; readonly of: Fields }
  | { readonly kind: 'list'; readonly of: Fields; readonly least: number; readonly most: number };

export type Shape = Kind & {
  /** Markdown, on one line. docs/configuration.md is generated from it: `npm run reference`. */
  readonly meaning?: string;
  readonly isOptional?: true;
  /** As it would be written in the file. */
  readonly byDefault?: Tree;
};

/** The declaration of a setting. One with neither a default nor `optional` is required. */
export class Setting<T, Optional extends boolean = boolean> {
  /** For the compiler alone. */
  declare readonly types: { readonly value: T; readonly isOptional: Optional };

  constructor(readonly shape: Shape) {}

  /** May be omitted without having a default. */
  get optional(): Setting<T, true> {
    return new Setting({ ...this.shape, isOptional: true, byDefault: undefined });
  }

  /** What a reader is told about it. */
  says(meaning: string): Setting<T, Optional> {
    return new Setting({ ...this.shape, meaning });
  }
}

/** What the program works with: the values of a section. */
export type Values<F extends Fields> = Flat<
  { readonly [Key in keyof F as IsOptional<F[Key]> extends true ? never : Key]: F[Key]['types']['value'] } & {
    readonly [Key in keyof F as IsOptional<F[Key]> extends true ? Key : never]?: F[Key]['types']['value'];
  }
>;
type IsOptional<S extends Setting<unknown>> = S['types']['isOptional'];
type Flat<T> = { [Key in keyof T]: T[Key] };

/** A text, or what its rule converts it to: a URL, milliseconds, an address. */
export function text<T>(rule: TextRule<T>, byDefault?: string): Setting<T, false> {
  return new Setting({ kind: 'text', ...textBy(rule), byDefault });
}

export function oneOf<const Word extends string>(words: readonly Word[], byDefault?: Word): Setting<Word, false> {
  return text(oneWordOf(words), byDefault);
}

export function wholeNumber(least: number, most: number, byDefault?: number): Setting<number, false> {
  const allowed = `a whole number from ${least} to ${most}`;
  const problemOf = (value: unknown): string | undefined => {
    if (typeof value !== 'number') return `must be ${allowed}, without quotes`;
    return Number.isSafeInteger(value) && value >= least && value <= most ? undefined : `must be ${allowed}`;
  };
  return new Setting({ kind: 'number', allowed, problemOf, byDefault });
}

export function flag(byDefault: boolean): Setting<boolean, false> {
  const problemOf = (value: unknown): string | undefined =>
    typeof value === 'boolean' ? undefined : 'must be true or false, without quotes';
  return new Setting({ kind: 'flag', allowed: 'true or false', problemOf, byDefault });
}

export function flagOr<const Word extends string>(word: Word, byDefault: boolean): Setting<boolean | Word, false> {
  const allowed = `true, false or ${word}`;
  const problemOf = (value: unknown): string | undefined =>
    typeof value === 'boolean' || value === word ? undefined : `must be ${allowed}`;
  return new Setting({ kind: 'flag or text', allowed, problemOf, byDefault });
}

/** With no item by default, unless there must be one. */
export function texts<T>(rule: TextRule<T>, least = 0): Setting<readonly T[], false> {
  const allowed = least === 0 ? `each ${rule.expects}` : `at least ${least}, each ${rule.expects}`;
  return new Setting({ kind: 'texts', least, ...textBy(rule), allowed, byDefault: least === 0 ? [] : undefined });
}

/** Has its defaults if it is omitted, or is required if one of its settings is. */
export function section<F extends Fields>(of: F): Setting<Values<F>, false> {
  const isRequired = Object.values(of).some(({ shape }) => shape.isOptional !== true && shape.byDefault === undefined);
  return new Setting({ kind: 'section', of, byDefault: isRequired ? undefined : {} });
}

export function list<F extends Fields>(
  of: F,
  {
    least = 0,
    most = Infinity,
    byDefault = least === 0 ? [] : undefined,
  }: { readonly least?: number; readonly most?: number; readonly byDefault?: Tree } = {},
): Setting<readonly Values<F>[], false> {
  return new Setting({ kind: 'list', of, least, most, byDefault });
}

function textBy(rule: TextRule<unknown>): Checked {
  const problemOf = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return `must be text: ${rule.expects}; put the value in quotes`;
    return rule.read(value) === undefined ? `must be ${rule.expects}` : undefined;
  };
  return { allowed: rule.expects, rule, problemOf };
}
