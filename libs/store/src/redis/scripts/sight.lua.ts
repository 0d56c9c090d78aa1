import { defineScript } from '../redis-script.js';

/** Records that something was seen. */
export const sightScript = defineScript(
  'sight',
  String.raw`
-- KEYS     the names that it is known by (strings)
-- ARGV     1 how long each is remembered in ms
-- returns  1: none of them was known; 0: one of them was
-- No call follows from it, and each takes memory: a full server refuses SET, the first write here.
local isFirst = 1
for _, name in ipairs(KEYS) do
  if not redis.call('SET', name, '', 'NX', 'PX', ARGV[1]) then isFirst = 0 end
end
return isFirst
`,
);
