import { defineScript } from '../redis-script.js';

/**
 * Gives each owner its own number. Owners take the first free number at or after the one that they prefer, so they are
 * found without searching all of them; a number can pass to another owner, but is never freed.
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

-- An unreadable seat belongs to nobody, and counts as never used.
local function sitter_of(number)
  local field = whole(number)
  if redis.call('HSTRLEN', KEYS[1], field) == 0 then return nil end
  local text = short_fields(KEYS[1], { field }, NAME_BYTES)[field] or ''
  local used_at, name = string.match(text, '^(%d+) (.+)$')
  return { owner = name, used_at = math.min(now, believed(used_at) or 0) }
end

-- It leads to calls that are made without a lease: a full server refuses HSET, the first write here.
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
