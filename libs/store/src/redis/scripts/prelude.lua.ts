import { merchantFields } from '../redis-layout.js';

const shortFields = Object.entries(merchantFields)
  .flatMap(([name, { isText }]) => (isText === true ? [] : [`'${name}'`]))
  .join(', ');

/**
 * The beginning of every script. The content of a merchant's keys is untrusted input: whatever is not as this store
 * writes it counts as absent, for that merchant only, and makes no script fail.
 * What the fields hold is described in `redis-layout.ts`. A replica of a version without dueAt changes the fence, and
 * then only the due set has the moment.
 */
export const prelude = String.raw`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local TEN_YEARS, MAX_GENERATION = 315576000000, 9007199253692416
local NAME_BYTES, TEXT_BYTES = 1024, 65536

local function whole(number) return string.format('%.0f', number) end

-- The number in a text, unless this store cannot have written it: far ahead of its clock and of what is known.
local function believed(text, known)
  if type(text) ~= 'string' or not string.find(text, '^%d+$') then return nil end
  local number = tonumber(text)
  if number > MAX_GENERATION or number > math.max(now, known or now) + TEN_YEARS then return nil end
  return number
end

local function floor_of(text)
  local floor = tonumber(text)
  return floor <= MAX_GENERATION and floor or 0
end

-- Whether the key exists. If it has another type, it is not ours and is removed.
local function present(key, kind)
  local found = redis.call('TYPE', key).ok
  local is_foreign = found ~= kind and found ~= 'none'
  if is_foreign then redis.call('UNLINK', key) end
  return found == kind, is_foreign
end

-- The named fields of a hash; false for missing ones, nothing for those that are too long to be ours.
local function short_fields(key, names, longest)
  local short, found = {}, {}
  for _, name in ipairs(names) do
    if redis.call('HSTRLEN', key, name) <= longest then short[#short + 1] = name end
  end
  if #short == 0 then return found end
  for i, value in ipairs(redis.call('HMGET', key, unpack(short))) do found[short[i]] = value end
  return found
end

local NAMES = { ${shortFields} }

-- What is left of a moment: never more than the length for which it was set, however the clock was changed.
local function left_of(moment)
  return math.min(moment.at - now, moment.length or moment.at)
end

local function lease_in(fields, fence, usual_length)
  local ends_at = believed(fields.leaseEndsAt)
  if not fields.owner or not ends_at then return nil end
  return {
    owner = fields.owner, at = ends_at, length = believed(fields.leaseMs) or usual_length,
    cools = fields.leaseCools == '1', call = fields.leaseCall,
    mark = 'lease:' .. whole(fence) .. ':' .. whole(ends_at),
  }
end

-- The due moment from the hash or, failing that, from the index (absent if the index is not asked).
local function due_in(fields, lease, indexed)
  local at, length = believed(fields.dueAt), believed(fields.dueMs)
  local is_own = at and (fields.dueFence or '') == (fields.fence or '')
  if not is_own then
    at, length = indexed and believed(redis.call('ZSCORE', indexed.set, indexed.merchant)), nil
    if not at then return nil end
  end
  local mark = 'due:' .. whole(at) .. ':' .. (fields.dueFence or '')
  -- The end of a lease is its merchant's due moment: whoever has watched one has watched the other.
  if lease and lease.at == at then mark = lease.mark end
  return { at = at, length = length, mark = mark, is_own = is_own }
end

-- A merchant according to its hash. known: a number that was seen, so numbers near it are believed. indexed: the due
-- set and the merchant's name in it, if that is to be asked when the hash has no due moment.
local function record_of(key, known, indexed, usual_length)
  local is_there, was_damaged = present(key, 'hash')
  local fields = short_fields(key, NAMES, NAME_BYTES)
  local fence, generation = believed(fields.fence, known) or 0, believed(fields.generation, known) or 0
  local lease = lease_in(fields, fence, usual_length)
  return {
    is_there = is_there, was_damaged = was_damaged,
    fence = fence, fence_text = fields.fence or '', generation = generation,
    lease = lease, is_leased = lease ~= nil and lease.at > now,
    due = due_in(fields, lease, indexed),
    published_at = believed(fields.publishedAt), contested = fields.contested == '1',
    condemned = believed(fields.condemned, known) or 0,
    failures = believed(fields.failures) or 0, cooled_down_at = believed(fields.cooledDownAt),
  }
end

-- Sets the due moment in the hash and in its index. waited: how much of its length has passed, if any of it.
local function fall_due(key, index, merchant, length, fence_text, waited)
  local at = now + math.max(0, length - (waited or 0))
  redis.call('HSET', key, 'dueAt', whole(at), 'dueMs', whole(length), 'dueFence', fence_text)
  redis.call('ZADD', index, whole(at), merchant)
end

local function end_lease(key)
  redis.call('HDEL', key, 'owner', 'leaseEndsAt', 'leaseMs', 'leaseCools', 'leaseCall')
end

-- A server checks whether a script may write at its first write, and at none after that: whether it has memory left
-- only if that write can take some (its flag denyoom); whether it is a primary, can save and has enough replicas at any
-- write. So each script that writes begins with one of these two, which change nothing; what follows is done as a
-- whole.

-- For what precedes a call. No session may be made that replicas cannot agree on, so nothing begins while the server is
-- full. WRONGTYPE comes after the check for memory: the key is not ours, and will be removed.
local function begin_if_memory_is_left(index)
  local answer = redis.pcall('ZADD', index, 'XX', 'GT', '-inf', '')
  if type(answer) == 'table' and answer.err and not string.find(answer.err, 'WRONGTYPE', 1, true) then error(answer) end
end

-- For what reports on a call that was made: replicas have to know it, all the more while the server is full. It takes
-- little memory, and not more with every call, since no call begins.
local function begin_although_full(hash)
  redis.call('HDEL', hash, '')
end

-- For how long a command waited until it was run, in a network or in a server that stood still: its sender may have given
-- up long ago, and what it said of its age was true when it was sent. sent_at: by this server's clock, and never after
-- it; empty if the sender has not had an answer yet.
local function waited_since(sent_at)
  return math.max(0, now - (tonumber(sent_at) or now))
end

local function announce(channel, message)
  if message ~= '' then redis.call('PUBLISH', channel, message) end
end
`;
