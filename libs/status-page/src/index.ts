export type { PageFile, Runbook } from './page-files.js';
export type { StatusCondition, StatusDocument } from './status-document.js';
export { StatusPage } from './status-page.js';
export type { StatusSearch } from './status-reporter.js';
export type { ConfiguredMerchant, ReplicaCondition, StatusSource, StoreConnection } from './status-source.js';
