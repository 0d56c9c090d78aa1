import { defineScript } from '../redis-script.js';

/** Writes a session under its lease: all or nothing, and never over a newer grant. */
export const publishScript = defineScript(
  'publish',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 fence (the session's generation), 4 sealed session, 5 age ms, 6 next due in ms,
--          7 channel, 8 announcement, 9 sent at
-- returns  'published' | 'fenced'
local fence = tonumber(ARGV[3])
present(KEYS[2], 'zset')
local record = record_of(KEYS[1], fence)
-- Already published: nothing to do.
if record.generation == fence then return 'published' end
if math.max(record.fence, record.generation) > fence then return 'fenced' end

local waited = waited_since(ARGV[9])
-- The session exists: a replica that alone knew it would continue alone.
begin_although_full(KEYS[1])
redis.call('HSET', KEYS[1], 'generation', whole(fence), 'sealed', ARGV[4],
  'publishedAt', whole(math.max(0, now - ARGV[5] - waited)))
redis.call('HDEL', KEYS[1], 'failures', 'failure', 'contested')
if record.lease and record.lease.owner == ARGV[2] and record.fence == fence then end_lease(KEYS[1]) end
fall_due(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[6]), record.fence_text, waited)
announce(ARGV[7], ARGV[8])
return 'published'
`,
);
