/** A key of any other form is not repeated in a fault: a token or a UUID may have ended up in its place. */
export function isNameLike(key: string): boolean {
  return key.length <= 40 && /^[A-Za-z](?:[_-]?[A-Za-z])*\d{0,4}$/.test(key);
}

/** The name in `name:value`, which YAML reads as a single text; undefined for anything else, including a URL. */
export function nameBeforeColon(text: string): string | undefined {
  const name = /^([^:\s]{1,40}):(?!\/\/)\S/.exec(text)?.[1];
  return name !== undefined && isNameLike(name) ? name : undefined;
}
