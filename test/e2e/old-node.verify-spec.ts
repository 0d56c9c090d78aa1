import { OLDEST_NODE } from '#libs/program';
import { ProgramProcess } from './program-process.js';

describe('on a Node.js that is too old', () => {
  it.each(['broker', 'egress'] as const)('the %s says so, before it looks for anything else', async (app) => {
    const program = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
    const process = new ProgramProcess(app, { environment: { NODE_OPTIONS } });
    expect(await process.ended).toBe(1);
    const said = `session-${app} cannot start: Node.js 20.20.2 is too old: run at least ${OLDEST_NODE}; a clone has one of its own: `;
    expect(process.err.trimEnd().split('\n')).toEqual([expect.stringContaining(said)]);
  });
});
