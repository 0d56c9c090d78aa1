// Writes docs/openapi.json, the contract, as the built broker serves it; a test keeps the two in sync.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFormatted } from './write-formatted.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'docs', 'openapi.json');

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return String(port);
}

async function answerOf(url) {
  for (const endsAt = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    try {
      return await fetch(url);
    } catch (error) {
      if (Date.now() > endsAt) throw error;
    }
  }
}

const port = await freePort();
const ports = {
  DEMO_BROKER_PORT: port,
  DEMO_MANAGEMENT_PORT: await freePort(),
  DEMO_SANDBOX_PORT: await freePort(),
};
const demo = spawn(process.execPath, [join(root, 'dist/programs/cli.js'), 'demo'], {
  env: { ...process.env, ...ports },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const contract = await (await answerOf(`http://127.0.0.1:${port}/openapi.json`)).json();
  await writeFormatted(target, JSON.stringify(contract));
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'exit');
}
