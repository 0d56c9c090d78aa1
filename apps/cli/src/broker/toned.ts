import { styleText } from 'node:util';
import type { Tone } from './listed-merchant.js';

/** A text in its colour, if colours are allowed. */
export const toned = (text: string, tone: Tone | undefined, hasColours: boolean): string =>
  hasColours && tone !== undefined ? styleText(tone, text, { validateStream: false }) : text;
