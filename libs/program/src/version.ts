/**
 * The version in package.json, which a build without that file next to it must know as well. A test keeps the two
 * equal.
 */
export const VERSION = '0.2.0';
