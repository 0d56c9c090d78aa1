/** Of the changes, in per cent: if fewer are noticed, the run fails. */
export const LEAST_SCORE = 90;
