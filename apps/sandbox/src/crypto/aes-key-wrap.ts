import { createCipheriv, createDecipheriv } from 'node:crypto';

/** The default initial value of RFC 3394, section 2.2.3.1: finding it again proves that key and text are intact. */
const INITIAL_VALUE = Buffer.alloc(8, 0xa6);

/** AES-256 key wrap (RFC 3394): the result is eight octets longer than the input. */
export function wrapKey(keyEncryptionKey: Uint8Array, key: Uint8Array): Buffer {
  const cipher = createCipheriv('id-aes256-wrap', keyEncryptionKey, INITIAL_VALUE);
  return Buffer.concat([cipher.update(key), cipher.final()]);
}

/** @throws Error of node:crypto when the wrapped key was made with another key or was altered */
export function unwrapKey(keyEncryptionKey: Uint8Array, wrapped: Uint8Array): Buffer {
  const decipher = createDecipheriv('id-aes256-wrap', keyEncryptionKey, INITIAL_VALUE);
  return Buffer.concat([decipher.update(wrapped), decipher.final()]);
}
