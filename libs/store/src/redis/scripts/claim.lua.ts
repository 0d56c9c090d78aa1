import { defineScript } from '../redis-script.js';

/** Grants a lease, or says why not. The order of checks is that of the README and of the memory adapter. */
export const claimScript = defineScript(
  'claim',
  String.raw`
-- KEYS[1]  merchant (hash: fence, owner, leaseEndsAt, leaseCools, generation, failures, cooledDownAt, ...)
-- KEYS[2]  create calls of the window (sorted set: fence -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 lease ms, 4 mode (when_due | now), 5 newer than, 6 floor,
--          7 budget: calls, 8 budget: window ms, 9 cool-down ms
-- returns  { 'claimed', fence, remaining ms, failures } | { 'already_newer', generation }
--          | { 'held' | 'not_due' | 'backing_off' | 'cooled_down' | 'budget_exhausted', retry in ms }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number) return string.format('%.0f', number) end

local merchant, owner, mode = ARGV[1], ARGV[2], ARGV[4]
local lease, newer_than, floor = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
local calls, window, cool_down = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

local stored = redis.call('HMGET', KEYS[1],
  'fence', 'owner', 'leaseEndsAt', 'generation', 'failures', 'cooledDownAt')
local fence, generation = tonumber(stored[1] or 0), tonumber(stored[4] or 0)
local lease_ends_at, failures = tonumber(stored[3] or 0), tonumber(stored[5] or 0)

if generation > newer_than then
  return { 'already_newer', whole(generation) }
end

if lease_ends_at > now then
  if stored[2] == owner then
    return { 'claimed', whole(fence), whole(lease_ends_at - now), whole(failures) }
  end
  return { 'held', whole(lease_ends_at - now) }
end

local due_at = tonumber(redis.call('ZSCORE', KEYS[3], merchant) or 0)
if due_at > now then
  if mode == 'when_due' then return { 'not_due', whole(due_at - now) } end
  if failures > 0 then return { 'backing_off', whole(due_at - now) } end
end

if cool_down > 0 and stored[6] then
  local cools_until = tonumber(stored[6]) + cool_down
  if cools_until > now then return { 'cooled_down', whole(cools_until - now) } end
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now - window))
local spent = redis.call('ZCARD', KEYS[2])
if spent >= calls then
  local last_to_leave = redis.call('ZRANGE', KEYS[2], spent - math.max(1, calls), spent - math.max(1, calls), 'WITHSCORES')
  local leaves_at = tonumber(last_to_leave[2] or now) + window
  return { 'budget_exhausted', whole(leaves_at - now) }
end

fence = math.max(fence + 1, generation + 1, floor + 1, now)
lease_ends_at = now + lease
redis.call('HSET', KEYS[1], 'fence', whole(fence), 'owner', owner, 'leaseEndsAt', whole(lease_ends_at),
  'leaseCools', cool_down > 0 and '1' or '0')
if cool_down > 0 then redis.call('HSET', KEYS[1], 'cooledDownAt', whole(now)) end
redis.call('ZADD', KEYS[2], whole(now), whole(fence))
redis.call('PEXPIRE', KEYS[2], whole(window))
redis.call('ZADD', KEYS[3], whole(lease_ends_at), merchant)
return { 'claimed', whole(fence), whole(lease), whole(failures) }
`,
);
