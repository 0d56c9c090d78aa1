/** How many files are open, or inspected, at a time. */
const BATCH = 32;

/** Does something with each file, a batch at a time; the results are in the order of the files. */
export async function inBatches<File, Result>(
  files: readonly File[],
  work: (file: File) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < files.length; start += BATCH) {
    results.push(...(await Promise.all(files.slice(start, start + BATCH).map(work))));
  }
  return results;
}
