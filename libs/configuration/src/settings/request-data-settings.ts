import { oneOf, text } from '../setting.js';
import { attachmentName, fileName } from '../value-rule.js';

export class RequestDataSettings {
  @oneOf('How the session request data travels. Open in the interface description.', ['none', 'body', 'header'])
  readonly attach: 'none' | 'body' | 'header' = 'none';

  @text('The body member or header that carries it; needed unless `none`.', attachmentName, { optional: true })
  readonly name?: string;

  @text('The public JWK that it is encrypted to; needed unless `none`.', fileName, { optional: true })
  readonly recipientKeyFile?: string;
}
