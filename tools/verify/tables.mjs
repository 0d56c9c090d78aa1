const aligned = (rows) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** The parts that there are. */
export const listOf = (parts) =>
  aligned([
    ['part', 'short', 'proves'],
    ...parts.map(({ name, seconds, proves, needs }) => [
      name,
      seconds === undefined ? '' : `${seconds} s`,
      needs === undefined ? proves : `${proves} (needs ${needs})`,
    ]),
  ]);

/** How they ended, and the counts. */
export function tableOf(results) {
  const rows = results.map(({ name, seconds, verdict }) => [name, String(seconds), verdict]);
  const passed = results.filter((result) => result.passed).length;
  return `\n${aligned([['part', 'seconds', 'verdict'], ...rows])}\n\n${passed} passed, ${results.length - passed} failed`;
}
