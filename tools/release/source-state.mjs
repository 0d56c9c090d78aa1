import { spawnSync } from 'node:child_process';

function git(root, ...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * What is built: the commit, its date, and what prevents building it.
 * @returns commit is undefined if there is no repository; the date is then that of SOURCE_DATE_EPOCH
 */
export function sourceState(root, version) {
  const commit = git(root, 'rev-parse', 'HEAD');
  const epoch = process.env.SOURCE_DATE_EPOCH ?? git(root, 'log', '-1', '--format=%ct');
  if (epoch === undefined) throw new Error('no git repository here: say SOURCE_DATE_EPOCH, in seconds');
  const tagged = git(root, 'rev-parse', '--verify', '--quiet', `refs/tags/v${version}^{commit}`);
  const isModified = commit !== undefined && git(root, 'status', '--porcelain') !== '';
  const problems = [
    ...(commit === undefined ? ['there is no git repository, so nobody could say what was built'] : []),
    ...(isModified ? ['the working tree differs from its commit'] : []),
    ...(tagged === undefined || tagged === commit ? [] : [`the tag v${version} is on another commit`]),
  ];
  return { commit, isModified, date: new Date(1000 * Number(epoch)), problems };
}
