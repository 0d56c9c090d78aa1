import { defineScript } from '../redis-script.js';

/** Writes a session: all or nothing, and never over a newer one or a newer grant. `publishIn` of the memory adapter. */
export const publishScript = defineScript(
  'publish',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 owner of its lease (empty: without one), 3 generation, 4 sealed session, 5 age ms,
--          6 next due in ms, 7 channel, 8 announcement, 9 sent at
-- returns  'published' | 'fenced'
local owner, generation = ARGV[2], tonumber(ARGV[3])
present(KEYS[2], 'zset')
local record = record_of(KEYS[1], generation)
if record.generation == generation then return 'published' end
if math.max(record.fence, record.generation) > generation then return 'fenced' end

local waited = waited_since(ARGV[9])
-- The session exists: a replica that alone knew it would continue alone.
begin_although_full(KEYS[1])
redis.call('HSET', KEYS[1], 'generation', whole(generation), 'sealed', ARGV[4],
  'publishedAt', whole(math.max(0, now - ARGV[5] - waited)))
local is_own_lease = record.fence == generation and (owner == '' or owner == record.owner)
if is_own_lease or not record.is_leased then
  redis.call('HDEL', KEYS[1], 'owner', 'lease', 'failures', 'failure')
  fall_due(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[6]), waited)
end
announce(ARGV[7], ARGV[8])
return 'published'
`,
);
