const licenceOf = ({ licenses }) =>
  licenses.map(({ license, expression }) => expression ?? license.id ?? license.name).join(' AND ');

/** A page that lists the licence of each package, from a bill of materials. */
export function licenceTable({ metadata, components }) {
  const rows = components.map((component) => {
    const { group, name, version } = component;
    return { name: group === undefined ? name : `${group}/${name}`, version, licence: licenceOf(component) };
  });
  const counts = new Map();
  for (const { licence } of rows) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const byNumber = [...counts].sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1));
  const { name, version } = metadata.component;
  return [
    `# Licences of what ${name} ${version} loads`,
    '',
    `${rows.length} packages. Where a package brings the text of its licence, that is in the image, in its folder.`,
    '',
    '| licence | packages |',
    '| --- | --- |',
    ...byNumber.map(([licence, count]) => `| ${licence} | ${count} |`),
    '',
    '| package | version | licence |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${row.name} | ${row.version} | ${row.licence} |`),
    '',
  ].join('\n');
}
