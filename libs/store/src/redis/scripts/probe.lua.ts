import { defineScript, type RedisScript } from '../redis-script.js';
import { claimScript } from './claim.lua.js';
import { condemnScript } from './condemn.lua.js';
import { dueScript } from './due.lua.js';
import { enrolScript } from './enrol.lua.js';
import { offerScript } from './offer.lua.js';
import { publishScript } from './publish.lua.js';
import { readScript } from './read.lua.js';
import { releaseScript } from './release.lua.js';
import { reportScript } from './report.lua.js';
import { seatScript } from './seat.lua.js';
import { settleScript } from './settle.lua.js';

/** Every script that an operation of the store runs. */
export const operationScripts: readonly RedisScript[] = [
  claimScript,
  publishScript,
  offerScript,
  condemnScript,
  reportScript,
  releaseScript,
  readScript,
  enrolScript,
  dueScript,
  settleScript,
  seatScript,
];

const asFunction = ({ name, body }: RedisScript): string => `local function ${name}(KEYS, ARGV)\n${body}\nend\n`;

/**
 * Runs the actual scripts of all operations, one after the other, for a merchant that is gone again at the end:
 * whatever a server would refuse the store, it refuses this.
 */
export const probeScript = defineScript(
  'probe',
  operationScripts.map(asFunction).join('') +
    String.raw`
-- KEYS     1 merchant (hash; briefly used as seats, since the replicas' seats are limited in number), 2 its create
--          calls, 3 due moments
-- ARGV     1 merchant, 2 channel, 3 announcement (empty: none)
-- returns  { what the operations answered, in one line, now in ms }
local merchant, channel, announcement = ARGV[1], ARGV[2], ARGV[3]
local record, calls, index = KEYS[1], KEYS[2], KEYS[3]
local answers = {}

local function claimed()
  local anything, cooled = whole(MAX_GENERATION), 'cool:' .. whole(now)
  local args = { merchant, 'probe', '1000', 'when_wanted', anything, '0', '1', cooled, '1', '100', '1000' }
  local answer = claim({ record, calls, index }, args)
  table.insert(answers, answer[1])
  return answer[2]
end

-- A server that refuses what precedes a call refuses the probe, since that comes first.
enrol({ index, record }, { '1', merchant })
-- Released uncalled, then called, then published: this way everything that a claim checks exists once.
for called = 0, 1 do
  local args = { merchant, 'probe', claimed(), '0', whole(called), 'failed', channel, announcement }
  table.insert(answers, release({ record, calls, index }, args))
  announcement = ''
end
local fence = claimed()
table.insert(answers, publish({ record, index }, { merchant, 'probe', fence, 'sealed', '0', '0', channel, '', '' }))
table.insert(answers, condemn({ record }, { fence, channel, '' }))
table.insert(answers, report({ record }, { fence, '0', 'budget', '1', channel, '', '' }))
local offered = offer({ record, index }, { merchant, whole(fence + 1), 'sealed', '0', '0', fence, channel, '', '' })
table.insert(answers, offered[1])
table.insert(answers, read({ index, record }, { merchant, '0' })[2][1])
due({ index }, { '1' })
table.insert(answers, settle({ index, record }, { merchant, '1' })[1])
table.insert(answers, seat({ record }, { 'probe', '0' }))
redis.call('UNLINK', record, calls)
redis.call('ZREM', index, merchant)
return { table.concat(answers, ' '), whole(now) }
`,
);

/** What the probe returns if every operation worked as it should. */
export const PROBE_ANSWER = 'claimed 1 claimed 1 claimed published 1 1 taken session 1 0';
