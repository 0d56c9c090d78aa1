import type { MatrixCase } from '../matrix-case.js';
import { announcementCases } from './announcements.js';
import { outageCases } from './outages.js';
import { quietCases } from './quiet.js';
import { recordCases } from './records.js';
import { refusalCases } from './refusals.js';
import { replicaCases } from './replicas.js';
import { storeCases } from './store.js';
import { topologyCases } from './topologies.js';

/** Every case of the matrix, in the order in which they are played and printed. */
export const matrixCases: readonly MatrixCase[] = [
  ...quietCases,
  ...storeCases,
  ...refusalCases,
  ...announcementCases,
  ...recordCases,
  ...topologyCases,
  ...replicaCases,
  ...outageCases,
];
