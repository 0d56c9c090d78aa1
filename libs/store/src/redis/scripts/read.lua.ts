import { defineScript } from '../redis-script.js';

/** The state of several merchants of one shard, at one moment. */
export const readScript = defineScript(
  'read',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       per merchant: name, generation that the reader has (0: none)
-- returns    { now in ms, per merchant { kind (absent | session | unchanged | unopenable), generation, sealed session,
--            age ms, failure, due in ms, due mark, condemned generation, age ms of the report that it is dead,
--            what held up a newer one then, for how many ms } }; what is absent is empty
-- A full server is still read: no write here takes memory, and sessions go on being served.
present(KEYS[1], 'zset')
local states = { whole(now) }

local function stored(key, record, known)
  local texts = short_fields(key, { 'sealed', 'failure' }, TEXT_BYTES)
  local failure = texts.failure or ''
  if record.generation == 0 then
    local is_something = record.was_damaged or texts.sealed or redis.call('HSTRLEN', key, 'generation') > 0
    return { is_something and 'unopenable' or 'absent', '0', '', '', failure }
  end
  if not texts.sealed or not record.published_at then
    return { 'unopenable', whole(record.generation), '', '', failure }
  end
  local age = whole(now - record.published_at)
  if record.generation == known then return { 'unchanged', whole(known), '', age, failure } end
  return { 'session', whole(record.generation), texts.sealed, age, failure }
end

-- What consumers report of the stored session; nothing where the report is of another one, or not as report.lua writes it.
local function reported(key, record)
  local text = short_fields(key, { 'reportedDead' }, NAME_BYTES).reportedDead
  if not text then return nil end
  local generation, at, held_by, held = string.match(text, '^(%d+) (%d+) ([%a_-]+) (%d+)$')
  if record.generation == 0 or believed(generation, record.generation) ~= record.generation or not believed(at) then return nil end
  return { age = now - at, held_by = held_by, held = believed(held) or 0 }
end

for i = 1, #KEYS - 1 do
  local merchant, known = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local record = record_of(KEYS[i + 1], known, { set = KEYS[1], merchant = merchant })
  local state = stored(KEYS[i + 1], record, known)
  for place = 6, 11 do state[place] = '' end
  if record.due then state[6], state[7] = whole(left_of(record.due)), record.due.mark end
  if record.generation > 0 and record.condemned == record.generation then state[8] = whole(record.generation) end
  local report = reported(KEYS[i + 1], record)
  if report then state[9], state[10], state[11] = whole(report.age), report.held_by, whole(report.held) end
  states[i + 1] = state
end
return states
`,
);
