/**
 * The beginning of every script. The content of a merchant's keys is untrusted input: whatever is not as this store
 * writes it counts as absent, for that merchant only and until its next renewal, and makes no script fail.
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

-- Whether the key exists. If it has another type, it is not ours and is removed.
local function present(key, kind)
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then redis.call('UNLINK', key) end
  return found == kind
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

-- Moments are kept as '<from> <length>'.
local function moment_in(text)
  local from, length = string.match(text or '', '^(%d+) (%d+)$')
  from, length = believed(from), believed(length)
  return from and length and { from = from, length = length } or nil
end

-- What is left of a moment, never more than its length. It is over when its time has come, and when it lies further
-- ahead than it can have been set: the clock was set back. Servers that take over from one another disagree by less.
local SET_BACK = 2000
local function left_of(moment)
  local ahead = moment.from + moment.length - now
  if ahead > moment.length + SET_BACK then return 0 end
  return math.max(0, math.min(ahead, moment.length))
end

local function report_in(text, known)
  local generation, at, early = string.match(text or '', '^(%d+) (%d+) ([01])$')
  generation, at = believed(generation, known), believed(at)
  return generation and at and { generation = generation, at = at, early = early }
end

-- All but the texts 'sealed' and 'failure', which only read.lua needs. docs/redis.md says what they hold.
local NAMES = { 'fence', 'owner', 'lease', 'due', 'generation', 'publishedAt', 'reportedDead', 'failures', 'cooledDownAt' }

-- A merchant according to its hash. known: a number that was seen, so numbers near it are believed.
local function record_of(key, known)
  present(key, 'hash')
  local fields = short_fields(key, NAMES, NAME_BYTES)
  local generation, lease, due = believed(fields.generation, known) or 0, moment_in(fields.lease), moment_in(fields.due)
  local report = report_in(fields.reportedDead, generation)
  return {
    fence = believed(fields.fence, known) or 0, generation = generation,
    owner = fields.owner, lease = lease, is_leased = fields.owner and lease ~= nil and left_of(lease) > 0,
    due_in = due and left_of(due), published_at = believed(fields.publishedAt),
    report = report and report.generation == generation and report or nil,
    failures = believed(fields.failures) or 0, cooled_down_at = believed(fields.cooledDownAt),
  }
end

-- Sets the due moment in the hash and in its index. waited: how much of its length has passed, if any of it.
local function fall_due(key, index, merchant, length, waited)
  local from = now - math.min(length, waited or 0)
  redis.call('HSET', key, 'due', whole(from) .. ' ' .. whole(length))
  redis.call('ZADD', index, whole(from + length), merchant)
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
