import { createConfig, lintFromString } from '@redocly/openapi-core';
import request from 'supertest';
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

  it.each(operations)('$name says what it does, what it refuses as problem details, and when to come again', (its) => {
    const { path, operation } = its;
    expect(operation.description).toMatch(/^[A-Z`].*\.$/);
    const statuses = Object.keys(operation.responses);
    expect(statuses).toEqual(expect.arrayContaining(['401', '503']));
    expect(statuses.includes('404')).toBe(path.includes('{merchant}'));
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (Number(status) >= 400) expect(Object.keys(answer.content ?? {})).toEqual(['application/problem+json']);
      expect([status, headersOf(answer).has('retry-after')]).toEqual([status, status === '429' || status === '503']);
    }
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
});
