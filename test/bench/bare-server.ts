import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** Answers every request with one recorded answer: what node:http alone costs. Arguments: port, file with the answer. */
interface RecordedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const [port, file] = process.argv.slice(2);
const { headers, body } = JSON.parse(readFileSync(file ?? '', 'utf8')) as RecordedAnswer;
createServer((_request, response) => {
  response.writeHead(200, headers).end(body);
}).listen(Number(port), '127.0.0.1');
