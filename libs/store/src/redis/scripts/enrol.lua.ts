import { defineScript } from '../redis-script.js';

/** Makes merchants known. */
export const enrolScript = defineScript(
  'enrol',
  String.raw`
-- KEYS[1]  due moments (sorted set: merchant -> ms)
-- ARGV     merchants
-- returns  how many were new
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local added = 0
for _, merchant in ipairs(ARGV) do
  added = added + redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now), merchant)
end
return added
`,
);
