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
  if (unreleased !== undefined && hasEntries(unreleased)) {
    problems.push(`CHANGELOG.md has entries under "## Unreleased", which ${version} would not have`);
  }
  return problems;
}
