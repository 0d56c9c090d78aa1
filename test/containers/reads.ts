/** Reads a session again and again, one read after the other, and prints a line of JSON for each, until it is ended. */
const [url = '', token = ''] = process.argv.slice(2);
const EVERY_MS = 50;
const WITHIN_MS = 20_000;

for (;;) {
  const startedMs = performance.now();
  const seen = { status: 0, code: '', retryAfter: '', ms: 0 };
  try {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
    const body = await answer.text();
    seen.status = answer.status;
    seen.retryAfter = answer.headers.get('retry-after') ?? '';
    seen.code = /"code":"(\w+)"/.exec(body)?.[1] ?? '';
  } catch (error) {
    seen.code = error instanceof Error ? error.name : 'failed';
  }
  seen.ms = Math.round(performance.now() - startedMs);
  console.log(JSON.stringify(seen));
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
