import { defineScript } from '../redis-script.js';

/** Frees a lease without a session. */
export const releaseScript = defineScript(
  'release',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  create calls of the window (sorted set: fence -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 fence, 4 next due in ms, 5 called (1 | 0), 6 failure (empty: none),
--          7 channel, 8 announcement of the failure
-- returns  1: released; 0: the lease had ended or is somebody else's
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number) return string.format('%.0f', number) end

local stored = redis.call('HMGET', KEYS[1], 'fence', 'owner', 'leaseEndsAt', 'leaseCools')
local is_live = tonumber(stored[3] or 0) > now
if not is_live or stored[2] ~= ARGV[2] or tonumber(stored[1]) ~= tonumber(ARGV[3]) then return 0 end

redis.call('HDEL', KEYS[1], 'owner', 'leaseEndsAt', 'leaseCools')
redis.call('ZADD', KEYS[3], whole(now + ARGV[4]), ARGV[1])
if ARGV[5] == '0' then
  redis.call('ZREM', KEYS[2], ARGV[3])
  if stored[4] == '1' then redis.call('HDEL', KEYS[1], 'cooledDownAt') end
end
if ARGV[6] ~= '' then
  redis.call('HINCRBY', KEYS[1], 'failures', 1)
  redis.call('HSET', KEYS[1], 'failure', ARGV[6])
  redis.call('PUBLISH', ARGV[7], ARGV[8])
end
return 1
`,
);
