import { type Judged, warningTextsOf } from './advice.js';

/** Of all merchants, in their order: one for those that have the same, which names the first of them. */
export function warningsOfAll(judged: readonly Judged[]): readonly string[] {
  const merchantsOf = new Map<string, string[]>();
  for (const one of judged) {
    for (const text of warningTextsOf(one)) {
      merchantsOf.set(text, [...(merchantsOf.get(text) ?? []), one.setup.merchant]);
    }
  }
  return [...merchantsOf].map(([text, [first = '', ...others]]) =>
    others.length === 0 ? `${first}: ${text}` : `${others.length + 1} merchants, ${first} first: ${text}`,
  );
}
