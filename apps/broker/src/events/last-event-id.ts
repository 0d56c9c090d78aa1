const GENERATION = /^\d{1,16}$/;

/**
 * The generation that a consumer holds, from its `Last-Event-ID`; 0 when it holds none. A value that makes no sense
 * counts as none, as the specification of server-sent events requires for ids that a server does not know.
 */
export function generationOfLastEvent(lastEventId: string | string[] | undefined): number {
  if (typeof lastEventId !== 'string' || !GENERATION.test(lastEventId)) return 0;
  const generation = Number(lastEventId);
  return Number.isSafeInteger(generation) ? generation : 0;
}
