import { defineScript } from '../redis-script.js';

/** Writes a session under its lease: all or nothing, and never over a newer grant. */
export const publishScript = defineScript(
  'publish',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 fence (the session's generation), 3 sealed session, 4 next due in ms, 5 channel, 6 announcement
-- returns  'published' | 'unchanged' (the same again: nothing was done) | 'fenced'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number) return string.format('%.0f', number) end

local fence = tonumber(ARGV[2])
local stored = redis.call('HMGET', KEYS[1], 'fence', 'generation')
local newest_fence, generation = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
if generation == fence then return 'unchanged' end
if newest_fence > fence or generation > fence then return 'fenced' end

redis.call('HSET', KEYS[1], 'fence', whole(fence), 'generation', whole(fence), 'sealed', ARGV[3],
  'publishedAt', whole(now))
redis.call('HDEL', KEYS[1], 'owner', 'leaseEndsAt', 'leaseCools', 'failures', 'failure')
redis.call('ZADD', KEYS[2], whole(now + ARGV[4]), ARGV[1])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 'published'
`,
);
