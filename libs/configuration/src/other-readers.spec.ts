import { otherReaders } from './read-file.js';

describe('a secret file', () => {
  it.each([
    ['of the broker, for it alone', 0o100600, true, undefined],
    ['of the broker, which its group may read', 0o100640, true, 'its group'],
    ['of the broker, which anybody may read', 0o100604, true, 'every user of the machine'],
    ['of root, which the broker reads through its group', 0o100440, false, undefined],
    ['of root, which a group may write', 0o100460, false, 'its group'],
    ['of root, which anybody may read', 0o100444, false, 'every user of the machine'],
  ])('%s', (...[, mode, isOwn, readers]) => {
    expect(otherReaders(mode, isOwn)).toBe(readers);
  });
});
