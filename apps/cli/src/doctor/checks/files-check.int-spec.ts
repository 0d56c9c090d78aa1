import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OwnUser } from '../own-user.js';
import type { Finding } from '../check.js';
import { filesCheck } from './files-check.js';

describe('what the doctor says of the group of a secret', () => {
  let folder: string;
  let ours: OwnUser;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'files-check-'));
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'key'), '{}');
    const { uid, gid } = await stat(join(folder, 'key'));
    ours = { uid, groups: [gid] };
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function saidOf(mode: number, user: OwnUser): Promise<readonly string[]> {
    await chmod(join(folder, 'key'), mode);
    const named = [{ path: 'clientKeyFiles[0]', file: 'key', content: 'secret' }] as const;
    const verdict = await filesCheck({ file: join(folder, 'key'), named, user }).run(new AbortController().signal);
    const findings: readonly Finding[] = 'findings' in verdict ? verdict.findings : [];
    return findings.map(({ message }) => message).filter((message) => message.startsWith('clientKeyFiles[0]: its'));
  }

  const another = ({ uid = 0, groups }: OwnUser): OwnUser => ({ uid: uid + 1, groups });
  const READ = 'clientKeyFiles[0]: its group can read the secret';
  const CHANGED = 'clientKeyFiles[0]: its group can change the file';

  it('is nothing of a file of another user that it reads by its own group, as Kubernetes mounts a Secret', async () => {
    expect(await saidOf(0o440, another(ours))).toEqual([]);
  });

  it.each<[string, (ours: OwnUser) => OwnUser]>([
    ['of its own file', (it) => it],
    ['of a group that it is not in', (it) => ({ ...another(it), groups: [] })],
    ['where no user is known', ({ groups }) => ({ uid: undefined, groups })],
  ])('is a warning %s', async (_what, userOf) => {
    expect(await saidOf(0o440, userOf(ours))).toEqual([READ]);
  });

  it('is both warnings of a group that may change the file too', async () => {
    expect(await saidOf(0o460, another(ours))).toEqual([CHANGED, READ]);
  });
});
