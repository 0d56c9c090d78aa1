import { isTimeZone, parseTimeOfDayMs, timeZoneNames } from '#libs/clock';
import { nearestName } from './nearest-name.js';
import type { TextRule } from './value-rule.js';

export const timeOfDay: TextRule = {
  expects: 'a time of day from 00:00 to 23:59, in quotes',
  accepts: (text) => parseTimeOfDayMs(text) !== undefined,
};

export const timeZone: TextRule = {
  expects: 'the name of a time zone, such as Europe/Kyiv (IANA)',
  accepts: isTimeZone,
  nearest: (text) => nearestName(text, timeZoneNames().filter(isTimeZone)),
};
