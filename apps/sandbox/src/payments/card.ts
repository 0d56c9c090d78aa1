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

export interface CardData {
  /** Years since 2000. */
  readonly year: number;
  readonly month: number;
}

/**
 * Reads the expiry and security code, `2503111`: year, month, CVV.
 * @throws GatewayRefusal `b_validation_card_expiration_date_and_security_code`
 */
export function readCardData(written: string): CardData {
  const [, year, month] = /^(\d{2})(0[1-9]|1[0-2])\d{3,4}$/.exec(written) ?? [];
  if (year === undefined || month === undefined) throw wrongCardData();
  return { year: Number(year), month: Number(month) };
}

/** @throws GatewayRefusal for a card that expired in a month before the given one */
export function demandNotExpired({ year, month }: CardData, now: Date): void {
  const passed = (2000 + year) * 12 + month;
  if (passed < now.getUTCFullYear() * 12 + now.getUTCMonth() + 1) throw wrongCardData();
}

function wrongCardData(): GatewayRefusal {
  return new GatewayRefusal('b_validation_card_expiration_date_and_security_code');
}

/** ISO/IEC 7812-1, annex B (Luhn). */
function hasRightCheckDigit(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, position) => {
    const value = Number(digit) * (position % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
