const RELEASE = /^## (?<version>\d\S*).*\n(?:\nCommit `(?<commit>[0-9a-f]{40})`)?/gm;
const releasesOf = (text) => [...text.matchAll(RELEASE)].map(({ groups }) => groups);

/** The newest release whose commit is named, which only a later commit can do. @returns undefined if there is none */
export const lastRelease = (text) => releasesOf(text).find(({ commit }) => commit !== undefined);

/** What in the text of CHANGELOG.md prevents a release of this version. */
export function changelogProblems(text, version) {
  const sections = text.split(/^## /m).slice(1);
  const titleOf = (section) => section.slice(0, section.indexOf('\n'));
  const hasEntries = (section) => /^- /m.test(section);
  const own = sections.find((section) => titleOf(section).split(' ')[0] === version);
  const unreleased = sections.find((section) => titleOf(section) === 'Unreleased');
  const problems = [];
  if (own === undefined) problems.push(`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`);
  else {
    if (!/^\S+ - \d{4}-\d{2}-\d{2}$/.test(titleOf(own)))
      problems.push(`the section of ${version} in CHANGELOG.md has no date`);
    if (!hasEntries(own)) problems.push(`the section of ${version} in CHANGELOG.md is empty`);
  }
  for (const { version: other, commit } of releasesOf(text)) {
    if (other !== version && commit === undefined)
      problems.push(`the section of ${other} in CHANGELOG.md does not begin with its commit`);
  }
  if (unreleased !== undefined && hasEntries(unreleased)) {
    problems.push(`CHANGELOG.md has entries under "## Unreleased", which ${version} would not have`);
  }
  return problems;
}
