import { oneOf } from '../setting.js';

export class LogSettings {
  @oneOf('The least severe lines that are logged.', ['debug', 'info', 'warn', 'error'])
  readonly level: 'debug' | 'info' | 'warn' | 'error' = 'info';
}
