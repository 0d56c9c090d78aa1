import type { SessionSettings } from '../session-settings.js';

/** The configured merchants. The answer may change while the process runs; it must not be kept across an await. */
export interface Merchants {
  ids(): readonly string[];
  /** @returns undefined for a merchant that is not (or no longer) configured */
  settingsOf(merchant: string): SessionSettings | undefined;
  /** Names the gateway that the merchant's calls go to: the number of concurrent calls to one gateway is limited. */
  gatewayIdOf(merchant: string): string;
  /** The RFC 7638 thumbprint of the key this replica asks with. Default: every replica asks with the same one. */
  newestKeyOf?(merchant: string): string | undefined;
}
