import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { must } from './child-processes.js';

const root = new URL('../../../', import.meta.url).pathname;
/** Read by third-party programs, which run as other users. */
const FOR_OTHERS = /^deploy\/(?:prometheus|grafana)\//;

/**
 * Copies the checked-out files into a new folder, as a checkout under umask 077 has them.
 * @param leftOut a further compose file next to the project's own
 */
export async function copyOfCheckout(to: string, leftOut: string): Promise<void> {
  const listed = await must(
    ['git', '-c', `safe.directory=*`, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    root,
  );
  for (const file of listed.split('\0').filter((name) => name !== '' && needed(name))) {
    const isForOthers = FOR_OTHERS.test(file);
    await mkdir(dirname(join(to, file)), { recursive: true, mode: isForOthers ? 0o755 : 0o700 });
    await copyFile(join(root, file), join(to, file));
    await chmod(join(to, file), isForOthers ? 0o644 : 0o600);
  }
  await writeFile(join(to, 'left-out.yml'), leftOut, { mode: 0o600 });
}

/** Whether the image or the compose file may use it. What the image leaves out is said by `.dockerignore`. */
export const needed = (file: string): boolean => !file.startsWith('test/');
