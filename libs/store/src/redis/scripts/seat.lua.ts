import { defineScript } from '../redis-script.js';

/**
 * Gives an owner a number of its own. Owners sit at the first free number from the one that they prefer on, so they are
 * found without looking through all of them; a number is given to another owner, but never freed.
 */
export const seatScript = defineScript(
  'seat',
  String.raw`
-- KEYS[1]  seats (hash: number -> '<last used in ms> <owner>')
-- ARGV     1 owner, 2 the number it prefers
-- returns  its number
local SEATS, WEEK = 1024, 604800000
local owner, preferred = ARGV[1], tonumber(ARGV[2])
present(KEYS[1], 'hash')

-- What cannot be read is nobody's, and unused for ever.
local function sitter_of(number)
  local field = whole(number)
  if redis.call('HSTRLEN', KEYS[1], field) == 0 then return nil end
  local text = short_fields(KEYS[1], { field }, NAME_BYTES)[field] or ''
  local used_at, name = string.match(text, '^(%d+) (.+)$')
  return { owner = name, used_at = math.min(now, believed(used_at) or 0) }
end

-- It leads to calls, those that are made alone: a full server refuses HSET, the first write of it.
local function take(number)
  redis.call('HSET', KEYS[1], whole(number), whole(now) .. ' ' .. owner)
  return number
end

local free, oldest, oldest_used_at
for step = 0, SEATS - 1 do
  local number = (preferred + step) % SEATS
  local sitter = sitter_of(number)
  if not sitter then
    free = number
    break
  end
  if sitter.owner == owner then return take(number) end
  if not oldest or sitter.used_at < oldest_used_at then oldest, oldest_used_at = number, sitter.used_at end
end
if not free or (oldest and oldest_used_at <= now - WEEK) then return take(oldest) end
return take(free)
`,
);
