import { defineScript } from '../redis-script.js';

/** Grants a lease, or says why not: `claimIn` of the memory adapter. */
export const claimScript = defineScript(
  'claim',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  create calls, as far back as the longest window looks (sorted set: fence -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 lease ms, 4 mode (when_due | when_wanted), 5 newer than, 6 floor,
--          7 cool-down ms, 8 ignores back-off (1 | 0), 9.. for each window of the budget: calls, ms
-- returns  { 'claimed', fence, remaining ms, failures } | { 'already_newer', generation }
--          | { 'held' | 'not_due' | 'backing_off' | 'cooled_down', retry in ms }
--          | { 'budget_exhausted', retry in ms, ms of the window }
-- It leads to a call, even if it only repeats a lease that was already granted.
begin_if_memory_is_left(KEYS[3])
local merchant, owner, mode = ARGV[1], ARGV[2], ARGV[4]
local length, newer_than, floor, cool_down = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
if floor > MAX_GENERATION then floor = 0 end
present(KEYS[3], 'zset')
local record = record_of(KEYS[1], floor)

if record.generation > newer_than then return { 'already_newer', whole(record.generation) } end

if record.is_leased then
  local left = whole(left_of(record.lease))
  if record.owner ~= owner then return { 'held', left } end
  if record.fence > floor then return { 'claimed', whole(record.fence), left, whole(record.failures) } end
end

local due_in = record.due_in or 0
if due_in > 0 then
  if mode == 'when_due' then return { 'not_due', whole(due_in) } end
  if record.failures > 0 and ARGV[8] ~= '1' then return { 'backing_off', whole(due_in) } end
end

if cool_down > 0 and record.cooled_down_at then
  local left = left_of({ from = record.cooled_down_at, length = cool_down })
  if left > 0 then return { 'cooled_down', whole(left) } end
end

-- No budget has this many calls: the set is not ours.
local MAX_CALLS = 10000
if present(KEYS[2], 'zset') then
  if redis.call('ZCARD', KEYS[2]) > MAX_CALLS then redis.call('UNLINK', KEYS[2]) end
  -- Calls in the future were made before the clock was set back: they count from now on.
  for _, call in ipairs(redis.call('ZRANGE', KEYS[2], '(' .. whole(now), '+inf', 'BYSCORE')) do
    redis.call('ZADD', KEYS[2], whole(now), call)
  end
end

-- Until the window lets another call through: once the calls-th newest has left it.
local function wait_for(calls, window)
  local leaves_last = redis.call('ZRANGE', KEYS[2], -calls, -calls, 'WITHSCORES')
  local made_at = tonumber(leaves_last[2])
  return made_at and made_at + window - now or 0
end

local spent, spent_window, longest = 0, 0, 0
for i = 9, #ARGV, 2 do
  local window = tonumber(ARGV[i + 1])
  local wait = wait_for(tonumber(ARGV[i]), window)
  if wait > spent then spent, spent_window = wait, window end
  longest = math.max(longest, window)
end
if spent > 0 then return { 'budget_exhausted', whole(spent), whole(spent_window) } end

local fence = whole(math.max(record.fence + 1, record.generation + 1, floor + 1, now))
redis.call('HSET', KEYS[1], 'fence', fence, 'owner', owner, 'lease', whole(now) .. ' ' .. whole(length))
if cool_down > 0 then redis.call('HSET', KEYS[1], 'cooledDownAt', whole(now)) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now - longest))
redis.call('ZADD', KEYS[2], whole(now), fence)
redis.call('PEXPIRE', KEYS[2], whole(longest))
fall_due(KEYS[1], KEYS[3], merchant, length)
return { 'claimed', fence, whole(length), whole(record.failures) }
`,
);
