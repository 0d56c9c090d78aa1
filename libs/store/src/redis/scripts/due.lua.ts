import { defineScript } from '../redis-script.js';

/** The earliest merchants of one shard. */
export const dueScript = defineScript(
  'due',
  String.raw`
-- KEYS[1]  due moments (sorted set: merchant -> ms)
-- ARGV[1]  how many at most
-- returns  { merchant, ms until due (0 or less: due), merchant, ... }, the earliest first
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entries = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
for i = 2, #entries, 2 do
  entries[i] = string.format('%.0f', entries[i] - now)
end
return entries
`,
);
