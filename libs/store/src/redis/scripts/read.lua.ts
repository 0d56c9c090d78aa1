import { defineScript } from '../redis-script.js';

/** The state of several merchants of one shard, at one moment; whoever has no due moment falls due. */
export const readScript = defineScript(
  'read',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       per merchant: name, generation that the reader has (0: none)
-- returns    { now in ms, per merchant { kind (absent | session | unchanged | unopenable), generation, sealed session,
--            age ms, failure, due in ms } }; absent values are empty. After these, only if there is one, the report
--            that it is dead: age ms, what held up a newer one then, for how many ms, died early (1 | 0)
present(KEYS[1], 'zset')
local TEXTS, HALF_AN_HOUR = { 'sealed', 'failure' }, 1800000
local states = { whole(now) }

local function stored(record, known, texts)
  local failure = texts.failure or ''
  if record.generation == 0 then return { 'absent', '0', '', '', failure } end
  if not texts.sealed or not record.published_at then
    return { 'unopenable', whole(record.generation), '', '', failure }
  end
  local age = whole(now - record.published_at)
  if record.generation == known then return { 'unchanged', whole(known), '', age, failure } end
  return { 'session', whole(record.generation), texts.sealed, age, failure }
end

-- The index has the merchant, not after its due moment, and not so long before now that due.lua forgets it. A server that
-- takes no writes, or has no memory left, is read all the same: the next read makes known whom this one could not.
local function make_known(key, merchant, record, due_in)
  local indexed_at = tonumber(redis.call('ZSCORE', KEYS[1], merchant))
  local is_indexed = indexed_at and indexed_at <= now + due_in and indexed_at > now - HALF_AN_HOUR
  if record.due and is_indexed then return end
  local answer = redis.pcall('ZADD', KEYS[1], whole(now + due_in), merchant)
  if not record.due and type(answer) == 'number' then redis.call('HSET', key, 'due', whole(now) .. ' 0') end
end

for i = 1, #KEYS - 1 do
  local merchant, known = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local record = record_of(KEYS[i + 1], known)
  local state = stored(record, known, short_fields(KEYS[i + 1], TEXTS, TEXT_BYTES))
  local due_in = record.due and left_of(record.due) or 0
  make_known(KEYS[i + 1], merchant, record, due_in)
  state[6] = whole(due_in)
  local report = record.report
  if report and record.generation > 0 then
    state[7], state[8], state[9], state[10] = whole(now - report.at), report.held_by, whole(report.held), report.early
  end
  states[i + 1] = state
end
return states
`,
);
