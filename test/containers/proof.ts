import { describeError } from '#libs/errors';
import type { Demo } from './demo.js';

/** The result of one proof: what was seen, and what is wrong with it. */
export interface Finding {
  readonly seen: string;
  readonly wrong: readonly string[];
}

export interface Proof {
  readonly what: string;
  readonly look: (demo: Demo) => Promise<Finding>;
  /** Unless it could be looked at, nothing can be seen of those after it. */
  readonly carriesOthers?: true;
}

/** What became of one proof. `isUnseen` if nobody looked. */
export type Result = Finding & { readonly what: string; readonly isUnseen?: true };

/** Looks at one proof after the other. A failure that all of them would meet is told once, and the others are not run. */
export async function lookAtAll(
  proofs: readonly Proof[],
  demo: Demo,
  tell: (result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [index, { what, look, carriesOthers }] of proofs.entries()) {
    let isLast = false;
    const finding = await look(demo).catch((error: unknown): Finding => {
      isLast = carriesOthers === true;
      return { seen: 'it could not be looked at', wrong: [describeError(error)] };
    });
    results.push({ what, ...finding });
    tell({ what, ...finding });
    if (!isLast) continue;
    const unseen = { seen: `not run, without ${what}`, wrong: [], isUnseen: true } as const;
    return [...results, ...proofs.slice(index + 1).map((proof) => ({ what: proof.what, ...unseen }))];
  }
  return results;
}

/** In words. */
function verdictOf({ wrong, isUnseen }: Result): string {
  if (isUnseen === true) return 'not run';
  return wrong.length === 0 ? 'passed' : `**${wrong.join('; ')}**`;
}

/** Whether all of them passed, and how many, in a sentence. */
export function countOf(results: readonly Result[]): { readonly allPassed: boolean; readonly sentence: string } {
  const unseen = results.filter(({ isUnseen }) => isUnseen === true);
  const passed = results.filter((result) => verdictOf(result) === 'passed').length;
  const others = unseen.length === 0 ? '' : `; ${unseen.length} ${unseen[0]?.seen}`;
  return { allPassed: passed === results.length, sentence: `${passed} of ${results.length} proofs passed${others}` };
}

/** A finding with those complaints whose condition is true. */
export function finding(seen: string, complaints: Readonly<Record<string, boolean>> = {}): Finding {
  return { seen, wrong: Object.keys(complaints).filter((complaint) => complaints[complaint]) };
}

/** The results as a Markdown table. */
export function tableOf(results: readonly Result[]): string {
  const rows = results.map((result) => [result.what, result.seen.replaceAll('|', '\\|'), verdictOf(result)]);
  const lines = [['what', 'seen', 'verdict'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
