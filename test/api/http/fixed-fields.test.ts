import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachOperation, type JsonSchema, loadDocument, resolveReference } from '../../../src/api/openapi/document.ts';
import { createRightsWorld, type RightsWorld } from '../../support/identity/rights-world.ts';
import { bodyFields, type DocumentedOperation, OPERATIONS, samplePath } from '../../support/http/sample-requests.ts';

const document = loadDocument();
/** Calls that change something that is there. */
const CHANGES = OPERATIONS.filter(
  ({ method, id }) => method === 'PATCH' || method === 'PUT' || id === 'updatePerson',
).map((operation) => [operation.title, operation] as const);

let world: RightsWorld;
let token: string;

beforeAll(async () => {
  world = await createRightsWorld({ unknownKeys: 'refuse' });
  token = await world.app.login();
});

afterAll(async () => {
  await world?.close();
});

/** Fields that the response of a call shows. */
function shownBy({ id }: DocumentedOperation): string[] {
  const { operation } = eachOperation(document).find(({ operation }) => operation.operationId === id)!;
  const ok = operation.responses['200'] as { content: Record<string, { schema: JsonSchema }> };
  const schema = resolveReference<JsonSchema>(document, ok.content['application/json']!.schema);
  return Object.keys((schema['properties'] as object | undefined) ?? {});
}

const change = (operation: DocumentedOperation, body: object) =>
  world.app.call(operation.method, samplePath(operation, world.objects), { token, body });

describe('read-only fields', () => {
  it.each(CHANGES)('%s rejects each by its name, whatever its value, and changes nothing', async (_, operation) => {
    const fixed = shownBy(operation).filter((name) => !bodyFields(operation).includes(name));
    const before = await world.fingerprint();
    for (const name of fixed) {
      for (const value of [null, 'x', 1]) {
        const { body } = await change(operation, { [name]: value });
        const fault = body.details.find(({ path }: { path: string }) => path === `body.${name}`);
        expect(fault?.message, name).toMatch(/^cannot be changed(; use .+)?$/);
      }
    }
    expect(await world.fingerprint()).toBe(before);
  });

  it('include those that only the creation accepts', async () => {
    const patch = OPERATIONS.find(({ id }) => id === 'patchUsgProfile')!;
    const { body } = await change(patch, {
      start_date: '2090-01-01',
      tailoring_file: null,
      benchmark: 'x',
      title: 'New',
    });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect(body.details).toEqual([
      { path: 'body.start_date', message: 'cannot be changed' },
      { path: 'body.tailoring_file', message: 'cannot be changed' },
      { path: 'body.benchmark', message: 'cannot be changed' },
    ]);
  });

  it('are rejected with the operation that changes them, even if unknown fields are ignored', async () => {
    const ignoring = await createRightsWorld({ unknownKeys: 'ignore' });
    for (const { app, objects } of [world, ignoring]) {
      const path = `/script-profiles/${objects['script_profile_id']}`;
      const response = await app.call('PATCH', path, { token: await app.login(), body: { archived: true } });
      expect(response.body).toEqual({
        error: 'InvalidParameter',
        message: 'body.archived cannot be changed; use POST /script-profiles/<id>:archive',
        code: 400,
        details: [{ path: 'body.archived', message: 'cannot be changed; use POST /script-profiles/<id>:archive' }],
      });
    }
    await ignoring.close();
  });

  it('are rejected within writable objects', async () => {
    const path = `/script-profiles/${world.objects['script_profile_id']}`;
    const { trigger } = (await world.app.call('GET', path, { token })).body;
    const { body } = await world.app.call('PATCH', path, { token, body: { trigger } });
    expect(body.details).toEqual(
      ['is_finished', 'last_run', 'next_run'].map((name) => ({
        path: `body.trigger.${name}`,
        message: 'cannot be changed',
      })),
    );
  });

  it('cannot be set at the creation', async () => {
    const { body } = await world.app.call('POST', '/access-groups', {
      token,
      body: { title: 'Lab', name: 'lab', id: 7 },
    });
    expect(body.details).toEqual([
      { path: 'body.name', message: 'cannot be set' },
      { path: 'body.id', message: 'unknown field "id"' },
    ]);
  });

  it('name operations of the document', () => {
    const calls = new Set(OPERATIONS.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '<id>')}`));
    const named = eachOperation(document).flatMap(({ operation }) =>
      Object.values(operation['x-changed-by'] ?? {}).flatMap((text) => text.match(/[A-Z]+ \/\S+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(8);
    for (const call of named) expect(calls).toContain(call);
  });
});
