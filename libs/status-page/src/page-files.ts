import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
  readonly etag: string;
}

const AS_TEXT = 'text/plain; charset=utf-8';
const AS_HTML = 'text/html; charset=utf-8';
const AS_CSS = 'text/css; charset=utf-8';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': AS_HTML,
  '.css': AS_CSS,
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** A page for the person on call: as it is in the repository, and for a browser. */
export interface Runbook extends PageFile {
  /** Made by the build. If the sources run directly there is none, and a browser gets the text. */
  readonly html?: PageFile;
}

const DOCS = folderOfDocs();
const RUNBOOKS = join(DOCS, 'runbooks');

/** The pages to which the runbooks send their reader: without them, the person on call would be stuck at night. */
const LINKED = [
  'authentication.md',
  'disasters.md',
  'hsm.md',
  'key-rotation.md',
  'operating.md',
  'redis.md',
  'reload.md',
  'status-page.md',
] as const;

const FOLDER = join(import.meta.dirname, 'page');

/**
 * The files of the page, read once: the name in a request is looked up among them and never in the file system. In the
 * build they are next to this file, as in the source.
 */
export function readPageFiles(): readonly PageFile[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const contentType = contentTypes[extname(name)];
    return contentType === undefined ? [] : [pageFile(FOLDER, name, contentType)];
  });
}

/**
 * The runbooks, read once, so that nobody has to look for them elsewhere. In the build they are in the same place as in
 * the source.
 */
export function readRunbooks(): readonly Runbook[] {
  const names = readdirSync(RUNBOOKS).filter((name) => extname(name) === '.md');
  return names.map((name) => runbook(RUNBOOKS, name));
}

/** The other pages of docs that a runbook names, read once. */
export function readLinkedPages(): readonly Runbook[] {
  return LINKED.map((name) => runbook(DOCS, name));
}

/** The styles of the runbooks in a browser. The build puts them next to the runbooks. */
export function readRunbookStyles(): readonly PageFile[] {
  const names = readdirSync(RUNBOOKS).filter((name) => extname(name) === '.css');
  return names.map((name) => pageFile(RUNBOOKS, name, AS_CSS));
}

/**
 * A bundle has all its files next to it; the sources, and files compiled one by one, use the repository's documents.
 */
function folderOfDocs(): string {
  const beside = join(import.meta.dirname, 'docs');
  return existsSync(beside) ? beside : join(import.meta.dirname, '..', '..', '..', 'docs');
}

function runbook(folder: string, name: string): Runbook {
  const text = pageFile(folder, name, AS_TEXT);
  const html = name.replace(/\.md$/, '.html');
  return existsSync(join(folder, html)) ? { ...text, html: pageFile(folder, html, AS_HTML) } : text;
}

function pageFile(folder: string, name: string, contentType: string): PageFile {
  const content = readFileSync(join(folder, name));
  return { name, contentType, content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
}
