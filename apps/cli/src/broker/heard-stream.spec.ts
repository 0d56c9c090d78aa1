import { heardThrough } from './heard-stream.js';

describe('a stream that is heard of', () => {
  const init = { method: 'GET', headers: {} } as Parameters<ReturnType<typeof heardThrough>>[1];

  async function signsOf(type: string): Promise<[number, string[]]> {
    let signs = 0;
    const answer = new Response(ReadableStream.from([Buffer.from(': one\n\n'), Buffer.from(': two\n\n')]), {
      headers: { 'content-type': type },
    });
    const fetch = heardThrough(
      () => Promise.resolve(answer),
      () => void (signs += 1),
    );
    const { body } = await fetch('http://a.example/', init);
    const reader = body?.getReader();
    const parts: string[] = [];
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      parts.push(Buffer.from(part.value ?? []).toString());
    return [signs, parts];
  }

  it('tells of each sign of life, and passes it on', async () => {
    expect(await signsOf('text/event-stream; charset=utf-8')).toEqual([2, [': one\n\n', ': two\n\n']]);
  });

  it('is no other answer', async () => {
    expect(await signsOf('application/json')).toEqual([0, [': one\n\n', ': two\n\n']]);
  });
});
