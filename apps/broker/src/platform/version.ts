/** The version of package.json, which a build without it beside still has to know. A test holds the two equal. */
export const VERSION = '0.1.0';
