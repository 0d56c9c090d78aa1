import { defineScript } from '../redis-script.js';

/** Writes a session that was made without a lease, or outlived it, if nothing newer is known. */
export const offerScript = defineScript(
  'offer',
  String.raw`
-- KEYS[1]  merchant (hash)
-- KEYS[2]  due moments (sorted set: merchant -> ms)
-- ARGV     1 merchant, 2 generation, 3 sealed session, 4 age ms, 5 next due in ms, 6 known (the highest generation
--          that its maker knew), 7 channel, 8 announcement, 9 sent at
-- returns  { 'taken' | 'refused', the generation that counts, contested (1 | 0) }
local generation, known = tonumber(ARGV[2]), tonumber(ARGV[6])
local waited = waited_since(ARGV[9])
local published_at = whole(math.max(0, now - ARGV[4] - waited))
present(KEYS[2], 'zset')
local record = record_of(KEYS[1], generation)

local function is_unknown(number) return number > known and number ~= generation end
local is_repeated = record.generation == generation
local keeps_lease = record.is_leased and record.fence ~= generation
local is_contested = keeps_lease or (is_repeated and record.contested)
  or is_unknown(record.generation) or is_unknown(math.max(record.fence, record.generation))
local contested = is_contested and 1 or 0

-- Both ways of writing it proceed even if the server is full: the session exists, and a replica that alone knew it
-- would continue alone.
if is_repeated then
  begin_although_full(KEYS[1])
  -- Writing it again costs nothing, and repairs a damaged text.
  redis.call('HSET', KEYS[1], 'sealed', ARGV[3])
  if not record.published_at then redis.call('HSET', KEYS[1], 'publishedAt', published_at) end
  return { 'taken', whole(generation), contested }
end
local newest = math.max(record.fence, record.generation)
if newest > generation then return { 'refused', whole(newest), contested } end

begin_although_full(KEYS[1])
redis.call('HSET', KEYS[1], 'generation', whole(generation), 'sealed', ARGV[3],
  'publishedAt', published_at, 'contested', whole(contested))
if not keeps_lease then
  end_lease(KEYS[1])
  redis.call('HDEL', KEYS[1], 'failures', 'failure')
  fall_due(KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[5]), record.fence_text, waited)
end
announce(ARGV[7], ARGV[8])
return { 'taken', whole(generation), contested }
`,
);
