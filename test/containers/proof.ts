import type { Demo } from './demo.js';

/** The result of one proof: what was seen, and what is wrong with it. */
export interface Finding {
  readonly seen: string;
  readonly wrong: readonly string[];
}

export interface Proof {
  readonly what: string;
  readonly look: (demo: Demo) => Promise<Finding>;
}

/** A finding with those complaints whose condition is true. */
export function finding(seen: string, complaints: Readonly<Record<string, boolean>> = {}): Finding {
  return { seen, wrong: Object.keys(complaints).filter((complaint) => complaints[complaint]) };
}

/** The findings as a Markdown table. */
export function tableOf(findings: readonly (Finding & { readonly what: string })[]): string {
  const rows = findings.map(({ what, seen, wrong }) => [
    what,
    seen.replaceAll('|', '\\|'),
    wrong.length === 0 ? 'passed' : `**${wrong.join('; ')}**`,
  ]);
  const lines = [['what', 'seen', 'verdict'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
