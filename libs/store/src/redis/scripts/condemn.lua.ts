import { defineScript } from '../redis-script.js';

/** Remembers that the stored session was found dead although nothing of ours can have ended it. */
export const condemnScript = defineScript(
  'condemn',
  String.raw`
-- KEYS[1]  merchant (hash)
-- ARGV     1 generation, 2 channel, 3 announcement
-- returns  1: condemned, now or before; 0: another session is stored, a lease was granted since, or it is contested
local generation = tonumber(ARGV[1])
local record = record_of(KEYS[1], generation)
if record.generation ~= generation or record.fence > generation or record.contested then return 0 end
if record.condemned ~= generation then
  -- All replicas need to know what became of a session that was made, and it is only one short field.
  begin_although_full(KEYS[1])
  redis.call('HSET', KEYS[1], 'condemned', whole(generation))
  announce(ARGV[2], ARGV[3])
end
return 1
`,
);
