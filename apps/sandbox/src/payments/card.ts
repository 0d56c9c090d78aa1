import { GatewayRefusal } from '../gateway/refusal.js';

/** What a test card does; any other number with a valid check digit pays. */
export type CardConduct = 'pays' | 'fails' | 'is_not_authorized' | 'demands_3ds';

const conducts: Readonly<Record<string, CardConduct>> = {
  '4000000000000002': 'fails',
  '4000000000009995': 'is_not_authorized',
  '4000000000003220': 'demands_3ds',
};

export interface Card {
  /** `5573********0304` */
  readonly mask: string;
  readonly conduct: CardConduct;
}

/** @throws GatewayRefusal `b_invalid_pan_format` */
export function readCard(number: string): Card {
  if (!/^\d{13,19}$/.test(number) || !hasRightCheckDigit(number)) throw new GatewayRefusal('b_invalid_pan_format');
  const hidden = '*'.repeat(number.length - 8);
  return { mask: number.slice(0, 4) + hidden + number.slice(-4), conduct: conducts[number] ?? 'pays' };
}

/**
 * Expiry and security code are written as `2503111`: year, month, CVV. Whether the card has expired is not looked at:
 * the published example did in March 2025.
 * @throws GatewayRefusal `b_validation_card_expiration_date_and_security_code`
 */
export function demandCardData(written: string): void {
  if (/^\d{2}(0[1-9]|1[0-2])\d{3,4}$/.test(written)) return;
  throw new GatewayRefusal('b_validation_card_expiration_date_and_security_code');
}

/** ISO/IEC 7812-1, annex B (Luhn). */
function hasRightCheckDigit(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, position) => {
    const value = Number(digit) * (position % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
