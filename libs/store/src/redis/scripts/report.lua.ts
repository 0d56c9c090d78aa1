import { defineScript } from '../redis-script.js';

/** Remembers that consumers report the stored session dead: `reportIn` of the memory adapter. */
export const reportScript = defineScript(
  'report',
  String.raw`
-- KEYS[1]  merchant (hash)
-- ARGV     1 generation, 2 age ms, 3 may prove (1 | 0), 4 channel, 5 announcement, 6 sent at
-- returns  { kept (1 | 0), died early (1 | 0) }
local generation = tonumber(ARGV[1])
local record = record_of(KEYS[1], generation)
if record.generation ~= generation then return { 0, 0 } end
local is_proven = record.report and record.report.early == '1' or ARGV[3] == '1' and record.fence <= generation
-- All replicas need to know what became of a session that was made, and it is only one short field.
begin_although_full(KEYS[1])
local early, at = is_proven and 1 or 0, math.max(0, now - ARGV[2] - waited_since(ARGV[6]))
redis.call('HSET', KEYS[1], 'reportedDead', table.concat({ whole(generation), whole(at), whole(early) }, ' '))
announce(ARGV[4], ARGV[5])
return { 1, early }
`,
);
