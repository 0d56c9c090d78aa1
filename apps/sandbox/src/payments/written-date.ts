import { toRfc3339, type Instant } from '#libs/clock';

/** `2022-11-11 11:58:41.560+00:00`, as the published examples write a time. */
export function writtenDate(at: Instant): string {
  return toRfc3339(at).replace('T', ' ').replace('Z', '+00:00');
}
