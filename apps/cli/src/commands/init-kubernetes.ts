import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { BrokerError } from '#libs/errors';
import { checkoutFolder } from '../checkout-folder.js';
import { exitCodes } from '../exit-codes.js';
import type { Report } from '../report.js';
import { systemCodeOf } from '../system-error.js';

/** The folders of deploy/kubernetes to begin with, and what is one's own in them. */
const INTENTS = {
  production: ['values.yaml', 'broker.yaml'],
  'production-mtls': ['values.yaml', 'broker.yaml', 'egress.yaml'],
};
/** Names and addresses that are reserved for documentation (RFC 2606, RFC 5737), and the hash of a token that is known. */
const RESERVED = /\.example\b|\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d|7d201470e403/;

export interface InitOptions {
  readonly out: string;
  readonly intent: keyof typeof INTENTS;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * Writes what is one's own of an installation on Kubernetes, without overwriting anything, and lists what is still to be
 * filled in. A second run only lists.
 * @throws BrokerError `invalid_request` for a folder in the checkout, `configuration_invalid` without a checkout
 */
export async function initKubernetes({ out, intent }: InitOptions): Promise<Report> {
  const checkout = checkoutFolder(import.meta.dirname);
  if (!relative(checkout, resolve(out)).startsWith('..'))
    throw new BrokerError('invalid_request', { publicDetail: `${out}: name a folder outside the clone` });
  await mkdir(out, { recursive: true });
  const files = INTENTS[intent].map((name) => join(out, name));
  const written: string[] = [];
  for (const file of files) {
    const text = await readFile(join(checkout, 'deploy/kubernetes', intent, basename(file)), 'utf8');
    if (await isNew(file, text)) written.push(file);
  }
  const left = (await Promise.all(files.map(placesIn))).flat();
  return {
    lines: [
      ...files.map((file) => `${written.includes(file) ? 'written      ' : 'there already'} ${file}`),
      ...(left.length === 0
        ? ['Nothing is left to fill in.']
        : ['To be filled in (docs/kubernetes.md says where each is found):']),
      ...left.map(({ file, line, text }) => `  ${file}:${line}  ${text}`),
    ],
    json: { written, left },
    exitCode: written.length > 0 || left.length === 0 ? exitCodes.ok : exitCodes.incomplete,
  };
}

async function isNew(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function placesIn(file: string): Promise<readonly Place[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((text) => text.trim());
  return lines.flatMap((text, index) =>
    RESERVED.test(text) && !text.startsWith('#') ? [{ file, line: index + 1, text }] : [],
  );
}
