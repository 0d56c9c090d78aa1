import { createConfig, lintFromString } from '@redocly/openapi-core';
import { errorCodes } from '#libs/errors';
import { RunningBroker } from '../e2e/running-broker.js';
import { contract, contractText } from './contract.js';

const STRICTEST = { extends: ['recommended-strict'] };

const lint = async (source: string): Promise<string[]> => {
  const config = await createConfig(STRICTEST);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
};

describe('the contract', () => {
  it('is what the broker serves; `npm run openapi` writes it', async () => {
    const broker = await RunningBroker.start();
    try {
      expect(await (await broker.get('/openapi.json', {}, '')).json()).toEqual(contract);
    } finally {
      await broker.close();
    }
  });

  it('has no fault by the strictest rules of a linter', async () => {
    expect(await lint(contractText)).toEqual([]);
  });

  it('would be refused with an operation that has no id, or a reference to nothing', async () => {
    expect(await lint(contractText.replace('"operationId": "getSession"', '"x-id": "getSession"'))).toEqual([
      expect.stringMatching(/^operation-operationId: /),
    ]);
    expect(await lint(contractText.replace('#/components/schemas/SessionDocument', '#/components/schemas/No'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^no-unresolved-refs: /)]),
    );
  });

  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );

  it.each(operations)('$name tells each of its refusals as problem details', ({ operation }) => {
    const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    expect(refusals.map(([status]) => status)).toContain('401');
    for (const [, { content }] of refusals) expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
  });

  it('names only statuses that an error code of the registry has', () => {
    const known = new Set(Object.values(errorCodes).map(({ status }) => String(status)));
    const named = operations.flatMap(({ operation }) => Object.keys(operation.responses).filter((s) => s >= '400'));
    expect(named.filter((status) => !known.has(status))).toEqual([]);
  });
});
