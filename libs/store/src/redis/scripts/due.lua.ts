import { defineScript } from '../redis-script.js';

/** The earliest entries of one shard's index of due moments, unchecked. */
export const dueScript = defineScript(
  'due',
  String.raw`
-- KEYS[1]  due moments (sorted set: merchant -> ms)
-- ARGV[1]  how many at most
-- returns  { how many there are in total, merchant, ms until due (0 or less: due), merchant, ... }, the earliest first;
--          an entry without a name was not ours, and has been removed
-- A full server can still be read: no write here takes memory, and being due is not yet a claim.
present(KEYS[1], 'zset')
local DAY, MAX_NAME_LENGTH = 86400000, 512
local entries = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
local listed = { redis.call('ZCARD', KEYS[1]) }
for i = 1, #entries, 2 do
  local merchant, at = entries[i], tonumber(entries[i + 1])
  if #merchant > MAX_NAME_LENGTH then
    redis.call('ZREM', KEYS[1], merchant)
    merchant = ''
  end
  listed[i + 1] = merchant
  listed[i + 2] = whole(math.max(-TEN_YEARS, math.min(DAY, at - now)))
end
return listed
`,
);
