import { defineScript } from '../redis-script.js';

/** Grants a lease, or says why not. The order of checks is that of rules.md and of the memory adapter. */
export const claimScript = defineScript(
  'claim',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  create calls, as far back as the longest window looks (sorted set: one member for each call -> ms)
-- KEYS[3]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner, 3 lease ms, 4 mode (when_due | when_wanted), 5 newer than, 6 floor,
--          7 cool-down ms, 8 mark of the watched moment (empty: none), 9 ignores back-off (1 | 0),
--          10.. for each window of the budget: calls, ms
-- returns  { 'claimed', fence, remaining ms, failures } | { 'already_newer', generation }
--          | { 'held' | 'not_due' | 'backing_off' | 'cooled_down', retry in ms, mark }
--          | { 'budget_exhausted', retry in ms, mark, ms of the window }
-- It leads to a call, even if it only repeats a lease that was already granted.
begin_if_memory_is_left(KEYS[3])
local merchant, owner, mode, watched = ARGV[1], ARGV[2], ARGV[4], ARGV[8]
local length, newer_than, floor = tonumber(ARGV[3]), tonumber(ARGV[5]), floor_of(ARGV[6])
local cool_down = tonumber(ARGV[7])
local windows, longest = {}, 0
for i = 10, #ARGV, 2 do
  local window = { calls = tonumber(ARGV[i]), length = tonumber(ARGV[i + 1]) }
  windows[#windows + 1], longest = window, math.max(longest, window.length)
end

present(KEYS[3], 'zset')
local record = record_of(KEYS[1], floor, { set = KEYS[3], merchant = merchant }, length)
local lease, due = record.lease, record.due

local function wait(kind, moment)
  return { kind, whole(left_of(moment)), moment.mark }
end

if record.generation > newer_than then
  return { 'already_newer', whole(record.generation) }
end

if record.is_leased then
  if lease.owner ~= owner then
    if watched ~= lease.mark then return wait('held', lease) end
  elseif record.fence > floor then
    return { 'claimed', whole(record.fence), whole(left_of(lease)), whole(record.failures) }
  end
end

if due and due.at > now and watched ~= due.mark then
  if mode == 'when_due' then return wait('not_due', due) end
  if record.failures > 0 and ARGV[9] ~= '1' then return wait('backing_off', due) end
end

if cool_down > 0 and record.cooled_down_at then
  local mark = 'cool:' .. whole(record.cooled_down_at)
  local cooled = { at = record.cooled_down_at + cool_down, length = cool_down, mark = mark }
  if cooled.at > now and watched ~= mark then return wait('cooled_down', cooled) end
end

-- No budget has this many calls: the set is not ours.
local MAX_CALLS = 10000
if present(KEYS[2], 'zset') then
  if redis.call('ZCARD', KEYS[2]) > MAX_CALLS then redis.call('UNLINK', KEYS[2]) end
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now - longest))
  -- Calls in the future were made before the clock was set back: they count from now on.
  for _, call in ipairs(redis.call('ZRANGE', KEYS[2], '(' .. whole(now), '+inf', 'BYSCORE')) do
    redis.call('ZADD', KEYS[2], whole(now), call)
  end
end

-- When the window lets another call through, if it does not now: once the calls-th newest has left it.
local function refusal_of(window)
  local made_at = now
  if window.calls >= 1 then
    local leaves_last = redis.call('ZRANGE', KEYS[2], -window.calls, -window.calls, 'WITHSCORES')
    made_at = tonumber(leaves_last[2])
    if not made_at or made_at + window.length <= now then return nil end
  end
  local mark = 'budget:' .. whole(made_at) .. ':' .. whole(window.length)
  return { at = made_at + window.length, length = window.length, mark = mark }
end

local spent
for _, window in ipairs(windows) do
  local refusal = refusal_of(window)
  if refusal and (not spent or refusal.at > spent.at) then spent = refusal end
end
if spent then return { 'budget_exhausted', whole(left_of(spent)), spent.mark, whole(spent.length) } end

local fence = math.max(record.fence + 1, record.generation + 1, floor + 1, now)
fence = fence + fence % 2

-- One member per call, even if a store that lost its records grants the same number twice. At most 64 octets, so that
-- Redis keeps them in half the memory.
local turn = 0
local call
repeat
  call = whole(fence) .. ':' .. owner .. ':' .. turn
  turn = turn + 1
until not redis.call('ZSCORE', KEYS[2], call)

-- The hash first: if writing it is refused, the script ends without having counted a call that will not be made.
redis.call('HSET', KEYS[1], 'fence', whole(fence), 'owner', owner, 'leaseEndsAt', whole(now + length),
  'leaseMs', whole(length), 'leaseCools', cool_down > 0 and '1' or '0', 'leaseCall', call)
if cool_down > 0 then redis.call('HSET', KEYS[1], 'cooledDownAt', whole(now)) end
redis.call('ZADD', KEYS[2], whole(now), call)
redis.call('PEXPIRE', KEYS[2], whole(longest))
fall_due(KEYS[1], KEYS[3], merchant, length, whole(fence))
return { 'claimed', whole(fence), whole(length), whole(record.failures) }
`,
);
