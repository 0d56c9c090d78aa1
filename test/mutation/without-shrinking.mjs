import fc from 'fast-check';

/** That a property fails is all that is asked of a mutant: the smallest example for it would take most of the time. */
fc.configureGlobal({ endOnFailure: true });
