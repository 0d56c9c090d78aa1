/** The version of package.json, by which the broker's log knows this client. A test keeps the two equal. */
export const VERSION = '0.1.0';
