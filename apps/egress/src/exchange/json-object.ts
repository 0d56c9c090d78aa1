/** The JSON object that these octets represent; undefined for anything else. */
export function jsonObjectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    // The parser quotes what it read, and that may be anything.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
