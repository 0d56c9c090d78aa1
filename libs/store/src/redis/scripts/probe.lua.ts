import { defineScript, type RedisScript } from '../redis-script.js';
import { claimScript } from './claim.lua.js';
import { dueScript } from './due.lua.js';
import { publishScript } from './publish.lua.js';
import { readScript } from './read.lua.js';
import { releaseScript } from './release.lua.js';
import { reportScript } from './report.lua.js';

/** Every script that an operation of the store runs. */
export const operationScripts: readonly RedisScript[] = [
  claimScript,
  publishScript,
  releaseScript,
  reportScript,
  readScript,
  dueScript,
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
-- KEYS     1 merchant (hash), 2 its create calls, 3 due moments
-- ARGV     1 merchant, 2 channel, 3 announcement (empty: none)
-- returns  { what the operations answered, in one line, now in ms }
local merchant, channel, announcement = ARGV[1], ARGV[2], ARGV[3]
local record, calls, index = KEYS[1], KEYS[2], KEYS[3]
local answers = {}

local function claimed(cool_down)
  local args = { merchant, 'probe', '1000', 'when_wanted', whole(MAX_GENERATION), '0', cool_down, '1', '100', '1000' }
  local answer = claim({ record, calls, index }, args)
  table.insert(answers, answer[1])
  return answer[2]
end

-- A server that refuses what precedes a call refuses the probe, since that comes first. Released uncalled, then called,
-- then published: this way everything that a claim checks exists once.
for called = 0, 1 do
  local args = { merchant, 'probe', claimed('1000'), '0', whole(called), 'failed', channel, announcement }
  table.insert(answers, release({ record, calls, index }, args))
  announcement = ''
end
local fence = claimed('0')
local function published(owner, generation)
  local args = { merchant, owner, generation, 'sealed', '0', '0', channel, '', '' }
  table.insert(answers, publish({ record, index }, args))
end
published('probe', fence)
table.insert(answers, table.concat(report({ record }, { fence, '0', '1', channel, '', '' }), ''))
published('', whole(fence + 1))
table.insert(answers, read({ index, record }, { merchant, '0' })[2][1][1])
due({ index }, { '1' })
redis.call('UNLINK', record, calls)
redis.call('ZREM', index, merchant)
return { table.concat(answers, ' '), whole(now) }
`,
);

/** What the probe returns if every operation worked as it should. */
export const PROBE_ANSWER = 'claimed 1 claimed 1 claimed published 11 published session';
