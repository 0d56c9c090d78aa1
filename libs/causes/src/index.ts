export { type Failed, isUntrusted, leadsElsewhere, seemsMisaddressed } from './call-faults.js';
export { conditionColours, helpFor, momentText, told, type Told, toldCall, toldStore } from './told.js';
