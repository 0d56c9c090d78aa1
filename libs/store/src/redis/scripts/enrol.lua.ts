import { defineScript } from '../redis-script.js';

/** Makes merchants known, and updates the index of due moments from their hashes. */
export const enrolScript = defineScript(
  'enrol',
  String.raw`
-- KEYS[1]    due moments (sorted set: merchant -> ms)
-- KEYS[i+1]  the i-th merchant (hash)
-- ARGV       1 whether merchants without a due moment fall due (1 | 0: they are left alone), then the merchants
-- It leads to claims, and every merchant takes memory.
begin_if_memory_is_left(KEYS[1])
present(KEYS[1], 'zset')
for i = 2, #KEYS do
  local merchant = ARGV[i]
  local record = record_of(KEYS[i], nil, { set = KEYS[1], merchant = merchant })
  local due = record.due
  if not due and ARGV[1] == '1' then
    fall_due(KEYS[i], KEYS[1], merchant, 0, record.fence_text)
  elseif due and due.is_own then
    redis.call('ZADD', KEYS[1], whole(now + left_of(due)), merchant)
  elseif due then
    redis.call('HSET', KEYS[i], 'dueAt', whole(due.at), 'dueMs', whole(math.max(0, due.at - now)),
      'dueFence', record.fence_text)
  end
end
`,
);
