import { defineScript } from '../redis-script.js';

/** Checks index entries that look due against the merchants' hashes, and corrects the index. */
export const settleScript = defineScript(
  'settle',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       per merchant: name, whether the asking replica has enrolled it (1 | 0)
-- returns    per merchant 1: due; 0: not due, or not ours
present(KEYS[1], 'zset')
local HOUR = 3600000
local verdicts = {}

local function is_foreign(record, merchant)
  if not record.is_there and not record.was_damaged then return true end
  -- Nobody has claimed it for this long: no replica serves it any more, and one that will serve it enrols it.
  local indexed_at = tonumber(redis.call('ZSCORE', KEYS[1], merchant) or now)
  return indexed_at < now - HOUR
end

for i = 1, #KEYS - 1 do
  local merchant = ARGV[2 * i - 1]
  local record = record_of(KEYS[i + 1], nil, { set = KEYS[1], merchant = merchant })
  verdicts[i] = 1
  if ARGV[2 * i] ~= '1' and is_foreign(record, merchant) then
    redis.call('ZREM', KEYS[1], merchant)
    verdicts[i] = 0
  elseif record.due and left_of(record.due) > 0 then
    -- Works on a full server too, which refuses only claims: the entry exists already, and takes no more memory.
    begin_although_full(KEYS[i + 1])
    redis.call('ZADD', KEYS[1], whole(now + left_of(record.due)), merchant)
    verdicts[i] = 0
  end
end
return verdicts
`,
);
