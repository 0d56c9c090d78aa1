import { createConfig, lintFromString } from '@redocly/openapi-core';
import request from 'supertest';
import { errorCodes } from '#libs/errors';
import { RunningBroker } from '../../e2e/running-broker.js';
import { contract, contractText, headersOf, type Json, operations } from '../../contract/contract.js';

const STRICTEST = { extends: ['recommended-strict'] };

const lint = async (source: string): Promise<string[]> => {
  const config = await createConfig(STRICTEST);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
};

/** Every schema in the contract, by its location. */
function schemas(node: unknown, path = ''): [path: string, schema: Json][] {
  if (typeof node !== 'object' || node === null) return [];
  const own: [string, Json][] = 'type' in node && typeof node.type === 'string' ? [[path, node]] : [];
  return [...own, ...Object.entries(node).flatMap(([name, child]) => schemas(child, `${path}/${name}`))];
}

describe('the contract', () => {
  it('is what the broker serves; `npm run openapi` writes it', async () => {
    const broker = await RunningBroker.start();
    try {
      const { body } = await request(broker.url).get('/openapi.json').expect(200);
      expect(body).toEqual(contract);
    } finally {
      await broker.close();
    }
  });

  it('has no fault by the strictest rules of a linter', async () => {
    expect(await lint(contractText)).toEqual([]);
  });

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

  it('says of each number which integer it is: a client in another language would round what is just a number', () => {
    const numbers = schemas(contract).filter(([, { type }]) => type === 'number' || type === 'integer');
    expect(numbers.length).toBeGreaterThan(5);
    expect(numbers.filter(([, { type, format }]) => type === 'number' || format === undefined)).toEqual([]);
  });

  it('has each generation in 64 bits, and no larger than every language can hold', () => {
    const generations = schemas(contract).filter(([path]) => /\/properties\/(generation|id)$/.test(path));
    const integers = generations.filter(([path]) => path !== '/components/schemas/MerchantDocument/properties/id');
    expect(integers).toHaveLength(8);
    for (const [, schema] of integers) {
      expect(schema).toMatchObject({ type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
    }
  });

  it.each(operations)('$name says in a sentence what it does', ({ operation }) => {
    expect(operation.description).toMatch(/^[A-Z`].*\.$/);
  });

  it.each(operations)(
    '$name says that a merchant may be unknown, and that the broker may be unable to answer',
    (its) => {
      const { path, operation } = its;
      const statuses = Object.keys(operation.responses);
      expect([statuses.includes('404'), statuses.includes('503')]).toEqual([path.includes('{merchant}'), true]);
    },
  );

  it.each(operations)('$name tells a caller that is refused for now when to come again', ({ operation }) => {
    for (const [status, answer] of Object.entries(operation.responses)) {
      expect([status, headersOf(answer).has('retry-after')]).toEqual([status, status === '429' || status === '503']);
    }
  });
});
