import { defineScript } from '../redis-script.js';

/** The earliest entries of one shard's index of due moments, as they stand there. */
export const dueScript = defineScript(
  'due',
  String.raw`
-- KEYS[1]  due moments (sorted set: merchant -> ms)
-- ARGV[1]  how many at most
-- returns  { how many there are in all, merchant, ms until due (0 or less: due), merchant, ... }, the earliest first;
--          an entry without a name was none of ours, and is gone
-- A full server is still read: no write here takes memory, and what is due is not claimed yet.
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
