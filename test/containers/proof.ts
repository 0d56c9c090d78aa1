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
  /** Where it fails, nothing can be seen of those after it. */
  readonly carriesOthers?: true;
}

export type Result = Finding & { readonly what: string };

/** Looks at one proof after the other, up to a failure that all of the others would meet. */
export async function lookAtAll(
  proofs: readonly Proof[],
  demo: Demo,
  tell: (result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const { what, look, carriesOthers } of proofs) {
    const finding = await look(demo).catch((error: unknown): Finding => ({
      seen: 'it could not be looked at',
      wrong: [describeError(error)],
    }));
    results.push({ what, ...finding });
    tell({ what, ...finding });
    if (carriesOthers === true && finding.wrong.length > 0) break;
  }
  return results;
}

/** A finding with those complaints whose condition is true. */
export function finding(seen: string, complaints: Readonly<Record<string, boolean>> = {}): Finding {
  return { seen, wrong: Object.keys(complaints).filter((complaint) => complaints[complaint]) };
}

/** The results as a Markdown table. */
export function tableOf(results: readonly Result[]): string {
  const verdictOf = ({ wrong }: Result): string => (wrong.length === 0 ? 'passed' : `**${wrong.join('; ')}**`);
  const rows = results.map((result) => [result.what, result.seen.replaceAll('|', '\\|'), verdictOf(result)]);
  const lines = [['what', 'seen', 'verdict'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
