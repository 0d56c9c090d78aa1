import { merchantFields } from '../redis-layout.js';

const shortFields = Object.entries(merchantFields)
  .flatMap(([name, { isText }]) => (isText === true ? [] : [`'${name}'`]))
  .join(', ');

/**
 * What every script begins with. The content of a merchant's keys is untrusted input: whatever is not as this store
 * writes it counts as absent, for that merchant alone, and no script fails because of it.
 * What the fields hold stands in `redis-layout.ts`. A replica of a version that knew no dueAt changes the fence, and then
 * only the due set has the moment.
 */
export const prelude = String.raw`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local TEN_YEARS, MAX_GENERATION = 315576000000, 9007199253692416
local NAME_BYTES, TEXT_BYTES = 1024, 65536

local function whole(number) return string.format('%.0f', number) end

-- The number that a text is, unless this store cannot have written it: far ahead of its clock and of what is known.
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

-- Whether the key is there. One of another type is none of ours: it makes way.
local function present(key, kind)
  local found = redis.call('TYPE', key).ok
  local is_foreign = found ~= kind and found ~= 'none'
  if is_foreign then redis.call('UNLINK', key) end
  return found == kind, is_foreign
end

-- The named fields of a hash; false for those that it has not, nothing for those that are too long to be ours.
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

-- What is left of a moment: never more than the length for which it was set, however the clock was moved.
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

-- The due moment: that of the hash, or else that of the index (absent when the index is not asked).
local function due_in(fields, lease, indexed)
  local at, length = believed(fields.dueAt), believed(fields.dueMs)
  local is_own = at and (fields.dueFence or '') == (fields.fence or '')
  if not is_own then
    at, length = indexed and believed(redis.call('ZSCORE', indexed.set, indexed.merchant)), nil
    if not at then return nil end
  end
  local mark = 'due:' .. whole(at) .. ':' .. (fields.dueFence or '')
  -- The end of a lease is its merchant's due moment: whoever has watched the one has watched the other.
  if lease and lease.at == at then mark = lease.mark end
  return { at = at, length = length, mark = mark, is_own = is_own }
end

-- A merchant as its hash tells it. known: a number that was seen, so those about it are believed. indexed: the due set
-- and the merchant's name there, if that is to be asked where the hash has no due moment.
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

-- Sets the due moment in the hash, and in the index of it.
local function fall_due(key, index, merchant, length, fence_text)
  redis.call('HSET', key, 'dueAt', whole(now + length), 'dueMs', whole(length), 'dueFence', fence_text)
  redis.call('ZADD', index, whole(now + length), merchant)
end

local function end_lease(key)
  redis.call('HDEL', key, 'owner', 'leaseEndsAt', 'leaseMs', 'leaseCools', 'leaseCall')
end

-- A server asks whether it may write at the first write of a script, and at none after it: whether it has memory left only
-- where that write can take some (its flag denyoom), whether it is a primary, can save and has replicas enough at any. So
-- each script that writes begins with one of these two, which change nothing; what follows is done as a whole.

-- For what precedes a call. No session may be made that replicas cannot agree on: while the server is full nothing begins.
-- WRONGTYPE comes after the question for memory: what makes way for this store is none of ours.
local function begin_if_memory_is_left(index)
  local answer = redis.pcall('ZADD', index, 'XX', 'GT', '-inf', '')
  if type(answer) == 'table' and answer.err and not string.find(answer.err, 'WRONGTYPE', 1, true) then error(answer) end
end

-- For what tells of a call that was made: replicas have to know it, the more so while the server is full. It takes little,
-- and no more with every call, since none begins.
local function begin_although_full(hash)
  redis.call('HDEL', hash, '')
end

local function announce(channel, message)
  if message ~= '' then redis.call('PUBLISH', channel, message) end
end
`;
