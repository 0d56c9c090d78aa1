import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
  readonly etag: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** The pages for the person on call, as they are in the repository; browsers show them as text. */
const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs');
const RUNBOOKS = join(DOCS, 'runbooks');

/** What the runbooks send their reader to: with them in reach and these not, the way ends at night. */
const LINKED = [
  'authentication.md',
  'command-line.md',
  'errors.md',
  'hsm.md',
  'operating.md',
  'reload.md',
  'status-page.md',
] as const;

const AS_TEXT = 'text/plain; charset=utf-8';

const FOLDER = join(import.meta.dirname, 'page');

/**
 * The files that the page is made of, read once: what a request names is looked up among them and never in the file
 * system. In the build they lie beside this file as they do in the source.
 */
export function readPageFiles(): readonly PageFile[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const contentType = contentTypes[extname(name)];
    return contentType === undefined ? [] : [pageFile(FOLDER, name, contentType)];
  });
}

/** The runbooks, read once, so that nobody has to look for them elsewhere. The build has them where the source has them. */
export function readRunbooks(): readonly PageFile[] {
  const names = readdirSync(RUNBOOKS).filter((name) => extname(name) === '.md');
  return names.map((name) => pageFile(RUNBOOKS, name, AS_TEXT));
}

/** The other pages of docs that a runbook names, read once. */
export function readLinkedPages(): readonly PageFile[] {
  return LINKED.map((name) => pageFile(DOCS, name, AS_TEXT));
}

function pageFile(folder: string, name: string, contentType: string): PageFile {
  const content = readFileSync(join(folder, name));
  return { name, contentType, content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
}
