import { defineScript } from '../redis-script.js';

/** The state of several merchants of one shard, at one moment; whoever has no due moment falls due. */
export const readScript = defineScript(
  'read',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       per merchant: name, generation that the reader has (0: none)
-- returns    { now in ms, per merchant { stored, failure, due in ms, report } }; a failure that is absent is empty
--            stored: { 'absent' | 'unopenable', generation } | { 'unchanged', generation, age ms }
--            | { 'session', generation, age ms, sealed session }
--            report that it is dead, only if there is one: { age ms, died early (1 | 0) }
present(KEYS[1], 'zset')
local TEXTS, HALF_AN_HOUR = { 'sealed', 'failure' }, 1800000
local states = { whole(now) }

local function stored(record, known, sealed)
  local generation = whole(record.generation)
  if record.generation == 0 then return { 'absent', generation } end
  if not sealed or not record.published_at then return { 'unopenable', generation } end
  local age = whole(now - record.published_at)
  if record.generation == known then return { 'unchanged', generation, age } end
  return { 'session', generation, age, sealed }
end

-- The index has the merchant, not after its due moment, and not so long before now that due.lua forgets it. A server that
-- takes no writes, or has no memory left, is read all the same: the next read makes known whom this one could not.
local function make_known(key, merchant, due_in)
  local due_at = now + (due_in or 0)
  local indexed_at = tonumber(redis.call('ZSCORE', KEYS[1], merchant))
  local is_indexed = indexed_at and indexed_at <= due_at and indexed_at > now - HALF_AN_HOUR
  if due_in and is_indexed then return end
  local answer = redis.pcall('ZADD', KEYS[1], whole(due_at), merchant)
  if not due_in and type(answer) == 'number' then redis.call('HSET', key, 'due', whole(now) .. ' 0') end
end

for i = 1, #KEYS - 1 do
  local key, known = KEYS[i + 1], tonumber(ARGV[2 * i])
  local record = record_of(key, known)
  local texts, report = short_fields(key, TEXTS, TEXT_BYTES), record.report
  make_known(key, ARGV[2 * i - 1], record.due_in)
  states[i + 1] = { stored(record, known, texts.sealed), texts.failure or '', whole(record.due_in or 0),
    report and { whole(now - report.at), report.early } }
end
return states
`,
);
