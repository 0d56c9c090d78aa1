/** Size in bytes of the longest payload that is sealed or opened. */
export const MAX_PLAINTEXT_BYTES = 65_536;

/** The compact JWE of such a payload: its base64url, the longest header that is accepted, key, vector, tag and dots. */
export const MAX_JWE_BYTES = Math.ceil((MAX_PLAINTEXT_BYTES * 4) / 3) + 2_048 + 54 + 16 + 22 + 4;
