/** A key of another form is not repeated in a fault: a token or a UUID may have slipped into its place. */
export function isNameLike(key: string): boolean {
  return key.length <= 40 && /^[A-Za-z](?:[_-]?[A-Za-z])*\d{0,4}$/.test(key);
}

/** The name of `name:value`, which YAML takes for one text; undefined for anything else, a URL among it. */
export function nameBeforeColon(text: string): string | undefined {
  const name = /^([^:\s]{1,40}):(?!\/\/)\S/.exec(text)?.[1];
  return name !== undefined && isNameLike(name) ? name : undefined;
}
