import { defineScript } from '../redis-script.js';

/** The earliest entries of one shard's index of due moments. */
export const dueScript = defineScript(
  'due',
  String.raw`
-- KEYS[1]  due moments (sorted set: merchant -> ms)
-- ARGV[1]  how many at most
-- returns  { { merchant, ms until due (0 or less: due) }, ... }, the earliest first
-- A full server can still be read: no write here takes memory, and being due is not yet a claim.
present(KEYS[1], 'zset')
local HOUR, DAY, MAX_NAME_LENGTH = 3600000, 86400000, 512
local entries = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
-- Nobody has read it for this long: no replica serves it any more, and one that will serve it makes it known.
if entries[2] and tonumber(entries[2]) < now - HOUR then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. whole(now - HOUR))
  entries = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
end
local listed = {}
for i = 1, #entries, 2 do
  if #entries[i] <= MAX_NAME_LENGTH then
    listed[#listed + 1] = { entries[i], whole(math.min(DAY, entries[i + 1] - now)) }
  end
end
return listed
`,
);
