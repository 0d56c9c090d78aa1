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

const FOLDER = join(import.meta.dirname, 'page');

/**
 * The files that the page is made of, read once: what a request names is looked up among them and never in the file
 * system. In the build they lie beside this file as they do in the source.
 */
export function readPageFiles(): readonly PageFile[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const contentType = contentTypes[extname(name)];
    return contentType === undefined ? [] : [pageFile(name, contentType)];
  });
}

function pageFile(name: string, contentType: string): PageFile {
  const content = readFileSync(join(FOLDER, name));
  return { name, contentType, content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
}
