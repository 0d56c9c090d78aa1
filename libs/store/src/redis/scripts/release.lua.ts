import { MAX_UNREACHED_FAILURES } from '#libs/session';
import { defineScript } from '../redis-script.js';

/** Frees a lease without a session: `releaseIn` of the memory adapter. */
export const releaseScript = defineScript(
  'release',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  create calls (sorted set: fence -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 fence, 4 next due in ms, 5 called (1 | 0), 6 failure (empty: none),
--          7 channel, 8 announcement of the failure
-- returns  1: released; 0: the lease had ended or is another one
local fence, called = tonumber(ARGV[3]), ARGV[5] == '1'
present(KEYS[3], 'zset')
local record = record_of(KEYS[1], fence)
if not record.is_leased or record.owner ~= ARGV[2] or record.fence ~= fence then return 0 end

-- The call was made or will not be: all replicas need the failure and the back-off, and the lease takes memory.
begin_although_full(KEYS[1])
if not called then
  if present(KEYS[2], 'zset') then redis.call('ZREM', KEYS[2], whole(fence)) end
  -- The cool-down that came with this lease.
  if record.cooled_down_at == record.lease.from then redis.call('HDEL', KEYS[1], 'cooledDownAt') end
end
redis.call('HDEL', KEYS[1], 'owner', 'lease')
fall_due(KEYS[1], KEYS[3], ARGV[1], tonumber(ARGV[4]))
if ARGV[6] ~= '' then
  local failures = record.failures
  if called or failures < ${MAX_UNREACHED_FAILURES} then failures = failures + 1 end
  redis.call('HSET', KEYS[1], 'failures', whole(failures), 'failure', ARGV[6])
  announce(ARGV[7], ARGV[8])
end
return 1
`,
);
