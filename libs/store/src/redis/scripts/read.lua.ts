import { defineScript } from '../redis-script.js';

/** The state of several merchants of one shard, at one moment. */
export const readScript = defineScript(
  'read',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  merchant ARGV[i] (hash)
-- ARGV       merchants
-- returns    per merchant { generation, sealed session, age ms, failure, due in ms }; what is absent is empty
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number) return string.format('%.0f', number) end

local states = {}
for i, merchant in ipairs(ARGV) do
  local stored = redis.call('HMGET', KEYS[i + 1], 'generation', 'sealed', 'publishedAt', 'failure')
  local due_at = redis.call('ZSCORE', KEYS[1], merchant)
  states[i] = {
    stored[1] or '', stored[2] or '', stored[3] and whole(now - stored[3]) or '', stored[4] or '',
    due_at and whole(due_at - now) or '',
  }
end
return states
`,
);
