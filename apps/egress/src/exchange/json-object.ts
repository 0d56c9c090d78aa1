/** @returns undefined for what is no JSON, or no object */
export function jsonObjectOf(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    // The parser quotes what it read, and that may be anything.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
