import { defineScript, type RedisScript } from '../redis-script.js';
import { claimScript } from './claim.lua.js';
import { dueScript } from './due.lua.js';
import { enrolScript } from './enrol.lua.js';
import { offerScript } from './offer.lua.js';
import { publishScript } from './publish.lua.js';
import { readScript } from './read.lua.js';
import { releaseScript } from './release.lua.js';
import { seatScript } from './seat.lua.js';
import { settleScript } from './settle.lua.js';

/** Every script that an operation of the store runs. */
export const operationScripts: readonly RedisScript[] = [
  claimScript,
  publishScript,
  offerScript,
  releaseScript,
  readScript,
  enrolScript,
  dueScript,
  settleScript,
  seatScript,
];

const asFunction = ({ name, body }: RedisScript): string => `local function ${name}(KEYS, ARGV)\n${body}\nend\n`;

/**
 * Runs the very scripts of all operations, one after the other, for a merchant that is gone again at the end: whatever
 * a server would refuse to the store, it refuses to this.
 */
export const probeScript = defineScript(
  'probe',
  operationScripts.map(asFunction).join('') +
    String.raw`
-- KEYS     1 merchant (hash; for a moment seats, since those of the replicas are no more than there are), 2 its create
--          calls, 3 due moments
-- ARGV     1 merchant, 2 channel, 3 announcement (empty: none)
-- returns  'ok', or which operation did not do what it should
local merchant, channel, announcement = ARGV[1], ARGV[2], ARGV[3]
local record, calls, index = KEYS[1], KEYS[2], KEYS[3]

local function claimed()
  local anything, cooled = whole(LARGEST), 'cool:' .. whole(now)
  return claim({ record, calls, index }, { merchant, 'probe', '1000', 'now', anything, '0', '100', '1000', '1', cooled, '1' })
end

local function went_wrong()
  enrol({ index, record }, { '1', merchant })
  -- Given back, then not, then published: so all that a claim looks at is there once.
  for called = 0, 1 do
    local lease = claimed()
    if lease[1] ~= 'claimed' then return 'claim' end
    local args = { merchant, 'probe', lease[2], '0', whole(called), 'failed', channel, announcement }
    if release({ record, calls, index }, args) ~= 1 then return 'release' end
    announcement = ''
  end
  local last = claimed()
  if last[1] ~= 'claimed' then return 'claim' end
  local published = publish({ record, index }, { merchant, 'probe', last[2], 'sealed', '0', '0', channel, '' })
  if published ~= 'published' then return 'publish' end
  local newer = whole(last[2] + 1)
  if offer({ record, index }, { merchant, newer, 'sealed', '0', '0', last[2], channel, '' })[1] ~= 'taken' then return 'offer' end
  if read({ index, record }, { merchant, '0' })[2][1] ~= 'session' then return 'read' end
  due({ index }, { '1' })
  settle({ index, record }, { merchant, '1' })
  redis.call('UNLINK', record)
  seat({ record }, { 'probe', '0' })
  return nil
end

local failed = went_wrong()
redis.call('UNLINK', record, calls)
redis.call('ZREM', index, merchant)
return failed or 'ok'
`,
);
