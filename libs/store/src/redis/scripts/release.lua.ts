import { MAX_UNREACHED_FAILURES } from '#libs/session';
import { defineScript } from '../redis-script.js';

/** Frees a lease without a session. */
export const releaseScript = defineScript(
  'release',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  create calls (sorted set: one member for each call -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 fence, 4 next due in ms, 5 called (1 | 0), 6 failure (empty: none),
--          7 channel, 8 announcement of the failure
-- returns  1: released; 0: the lease had ended or is another one
local fence = tonumber(ARGV[3])
present(KEYS[3], 'zset')
local record = record_of(KEYS[1], fence)
if not record.is_leased or record.lease.owner ~= ARGV[2] or record.fence ~= fence then return 0 end

-- The call was made or will not be: all replicas need the failure and the back-off, and the lease takes memory.
begin_although_full(KEYS[1])
if ARGV[5] == '0' then
  if present(KEYS[2], 'zset') and record.lease.call then redis.call('ZREM', KEYS[2], record.lease.call) end
  if record.lease.cools then redis.call('HDEL', KEYS[1], 'cooledDownAt') end
end
end_lease(KEYS[1])
fall_due(KEYS[1], KEYS[3], ARGV[1], tonumber(ARGV[4]), record.fence_text)
if ARGV[6] ~= '' then
  local failures = record.failures
  if ARGV[5] ~= '0' or failures < ${MAX_UNREACHED_FAILURES} then failures = failures + 1 end
  redis.call('HSET', KEYS[1], 'failures', whole(failures), 'failure', ARGV[6])
  announce(ARGV[7], ARGV[8])
end
return 1
`,
);
