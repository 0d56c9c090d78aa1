import { defineScript } from '../redis-script.js';

/** The state of several merchants of one shard, at one moment. */
export const readScript = defineScript(
  'read',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       per merchant: name, generation that the reader has (0: none)
-- returns    { now in ms, per merchant { kind (absent | session | unchanged | unopenable), generation, sealed session,
--            age ms, failure, due in ms, due mark, condemned generation } }; absent values are empty. After these,
--            only if there is one, the report that it is dead: age ms, what held up a newer one then, for how many ms
-- A full server can still be read: no write here takes memory, and sessions continue to be served.
present(KEYS[1], 'zset')
local states = { whole(now) }

-- Nothing can be reported of a merchant without a session, so a start with very many of them asks for less.
local WITH_SESSION, WITHOUT = { 'sealed', 'failure', 'reportedDead' }, { 'sealed', 'failure' }

local function stored(key, record, known, texts)
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

-- What consumers report of the stored session; nothing if the report is of another one, or not as report.lua writes it.
local function reported(record, text)
  if not text or #text > NAME_BYTES then return nil end
  local generation, at, held_by, held = string.match(text, '^(%d+) (%d+) ([%a_-]+) (%d+)$')
  if believed(generation, record.generation) ~= record.generation or not believed(at) then return nil end
  return { age = now - at, held_by = held_by, held = believed(held) or 0 }
end

for i = 1, #KEYS - 1 do
  local merchant, known = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local record = record_of(KEYS[i + 1], known, { set = KEYS[1], merchant = merchant })
  local texts = short_fields(KEYS[i + 1], record.generation > 0 and WITH_SESSION or WITHOUT, TEXT_BYTES)
  local state = stored(KEYS[i + 1], record, known, texts)
  state[6], state[7], state[8] = '', '', ''
  if record.due then state[6], state[7] = whole(left_of(record.due)), record.due.mark end
  if record.generation > 0 and record.condemned == record.generation then state[8] = whole(record.generation) end
  local report = reported(record, texts.reportedDead)
  if report then state[9], state[10], state[11] = whole(report.age), report.held_by, whole(report.held) end
  states[i + 1] = state
end
return states
`,
);
