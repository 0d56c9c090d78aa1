import { type Document, LineCounter, parseDocument } from 'yaml';

export interface ParsedYaml {
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * Strict YAML 1.2, core schema. Errors are in the document.
 * @returns undefined if it is nested too deeply to be read
 */
export function parseYaml(text: string): ParsedYaml | undefined {
  const lines = new LineCounter();
  try {
    // Repeated keys are detected elsewhere, since the parser's own check compares every key with every other.
    const checks = { strict: true, uniqueKeys: false, merge: false, schema: 'core', resolveKnownTags: false } as const;
    const said = { prettyErrors: false, logLevel: 'error', lineCounter: lines } as const;
    return { document: parseDocument(text, { ...checks, ...said, version: '1.2' }), lines };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
