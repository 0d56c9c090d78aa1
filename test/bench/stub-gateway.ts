import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/**
 * A gateway that does nothing: it reads every body to its end and answers at once with a prepared one. Arguments: port,
 * file with the answers by path prefix.
 */
const [port, file] = process.argv.slice(2);
const answers = Object.entries(JSON.parse(readFileSync(file ?? '', 'utf8')) as Record<string, string>);

createServer((request, response) => {
  const body = answers.find(([prefix]) => request.url?.startsWith(prefix))?.[1];
  request.resume().on('end', () => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body ?? '') };
    response.writeHead(body === undefined ? 404 : 200, headers).end(body);
  });
}).listen(Number(port), '127.0.0.1');
