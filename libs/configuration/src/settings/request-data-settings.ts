import { oneOf, text } from '../setting.js';
import { attachmentName, fileName } from '../value-rule.js';

/** How the session request data travels; the interface description leaves it open, so it is a setting. */
export class RequestDataSettings {
  @oneOf(['none', 'body', 'header']) readonly attach: 'none' | 'body' | 'header' = 'none';
  @text(attachmentName, { optional: true }) readonly name?: string;
  @text(fileName, { optional: true }) readonly recipientKeyFile?: string;
}
