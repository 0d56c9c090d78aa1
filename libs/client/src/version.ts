/** The version in package.json, by which the broker's log identifies this client. A test keeps the two equal. */
export const VERSION = '0.2.0';
