/** Freezes plain objects and arrays all the way down; keys and URLs are left as they are. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
