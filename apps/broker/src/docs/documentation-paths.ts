export const OPEN_API_PATH = '/openapi.json';
export const DOCS_PATH = '/docs';

export function isDocumentation(path: string): boolean {
  return path === OPEN_API_PATH || path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);
}
