import fc from 'fast-check';

/** For a mutant it is enough that a property fails: finding the smallest example would take most of the time. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
