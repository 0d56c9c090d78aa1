import { defineScript } from '../redis-script.js';

/** Remembers that consumers report the stored session dead. The last report counts. */
export const reportScript = defineScript(
  'report',
  String.raw`
-- KEYS[1]  merchant (hash)
-- ARGV     1 generation, 2 age ms, 3 what holds up a newer one (-: every replica sees it for itself), 4 for how long
--          in ms from the report on, 5 channel, 6 announcement, 7 sent at
-- returns  1: remembered; 0: another session is stored
local generation = tonumber(ARGV[1])
if record_of(KEYS[1], generation).generation ~= generation then return 0 end
-- All replicas need to know what became of a session that was made, and it is only one short field.
begin_although_full(KEYS[1])
redis.call('HSET', KEYS[1], 'reportedDead', table.concat({ whole(generation), whole(now - ARGV[2] - waited_since(ARGV[7])), ARGV[3], ARGV[4] }, ' '))
announce(ARGV[5], ARGV[6])
return 1
`,
);
