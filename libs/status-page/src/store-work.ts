/** What is asked of the store, in the words of the person on call. */
const works: ReadonlyMap<string, string> = new Map([
  ['enrol', 'entering the merchants'],
  ['seat', 'taking a number for this replica'],
  ['due', 'asking what is due'],
  ['claim', 'asking whether it may renew'],
  ['publish', 'storing a new session'],
  ['offer', 'storing a session that it lacks'],
  ['release', 'writing down how an attempt ended'],
  ['condemn', 'writing down a session that died early'],
  ['reportDead', 'writing down a reported dead session'],
  ['read', 'reading sessions'],
  ['announce', 'telling the other replicas'],
]);

export function storeWork(operation: string): string {
  return works.get(operation) ?? operation;
}
