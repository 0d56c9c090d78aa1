import { oneOf } from '../setting.js';

export class LogSettings {
  @oneOf(['debug', 'info', 'warn', 'error']) readonly level: 'debug' | 'info' | 'warn' | 'error' = 'info';
}
