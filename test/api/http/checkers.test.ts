import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN } from '../../support/http/app.ts';
import { createRightsWorld, NEVER, type RightsWorld } from '../../support/identity/rights-world.ts';
import {
  type DocumentedOperation,
  fieldTypes,
  OPERATIONS,
  type Samples,
  sampleBody,
  samplePath,
} from '../../support/http/sample-requests.ts';

// The checkers of the RESTler fuzzer, as tests over all operations of the document.

let world: RightsWorld;
let token: string;
/** Digest of every table after the test before. */
let last: string;

beforeAll(async () => {
  world = await createRightsWorld();
  token = await world.app.login(ADMIN);
  last = await world.fingerprint();
});

afterAll(async () => {
  await world?.close();
});

const call = (operation: DocumentedOperation, samples: Samples, body = sampleBody(operation, samples)) =>
  world.app.call(operation.method, samplePath(operation, samples), { token, body });
/** A body that is right but for what the test is about. */
const samplesFor = (over: Samples = {}): Samples => ({
  ...world.objects,
  benchmark: 'disa_stig',
  mode: 'audit',
  schedule: 'FREQ=WEEKLY',
  snaps: [{ name: 'hello' }],
  ...over,
});

async function expectNothingStored(): Promise<void> {
  const before = last;
  last = await world.fingerprint();
  expect(last).toBe(before);
}

/** Every kind of object that can be removed or put away: how one is made, and how it goes. */
const FREED: ReadonlyArray<{ parameter: string; make: () => Promise<unknown>; free: string; removed: boolean }> = [
  {
    parameter: 'access_group_name',
    make: made('/access-groups', { title: 'passing' }, 'name'),
    free: 'DELETE /access-groups/{access_group_name}',
    removed: true,
  },
  {
    parameter: 'role_name',
    make: made('/roles', { name: 'passing' }, 'name'),
    free: 'DELETE /roles/{role_name}',
    removed: true,
  },
  {
    parameter: 'saved_search_name',
    make: made('/saved-searches', { name: 'passing', search: 'web' }, 'name'),
    free: 'DELETE /saved-searches/{saved_search_name}',
    removed: true,
  },
  {
    parameter: 'invitation_id',
    make: made('/invitations', { name: 'Passing', email: 'passing@fleet.example' }, 'id'),
    free: 'DELETE /invitations/{invitation_id}',
    removed: true,
  },
  {
    parameter: 'access_key',
    make: made('/credentials', { account: 'standalone', password: ADMIN.password, name: 'passing' }, 'access_key'),
    free: 'DELETE /credentials/{access_key}',
    removed: true,
  },
  {
    parameter: 'webhook_id',
    make: async () =>
      (await world.app.call('POST', '/webhooks', { token, body: { url: 'https://passing.example/' } })).body.webhook.id,
    free: 'DELETE /webhooks/{webhook_id}',
    removed: true,
  },
  {
    parameter: 'person_id',
    make: async () => world.objects['person_id'],
    free: 'DELETE /administrators/{person_id}',
    removed: true,
  },
  {
    parameter: 'script_id',
    make: made('/scripts', { title: 'Passing', code: '#!/bin/sh\ntrue\n' }, 'id'),
    free: 'POST /scripts/{script_id}:archive',
    removed: false,
  },
  {
    parameter: 'script_profile_id',
    make: async () => world.objects['script_profile_id'],
    free: 'POST /script-profiles/{script_profile_id}:archive',
    removed: false,
  },
  {
    parameter: 'usg_profile_id',
    make: async () => world.objects['usg_profile_id'],
    free: 'POST /usg-profiles/{usg_profile_id}:archive',
    removed: false,
  },
];

function made(path: string, body: object, key: string) {
  return async () => (await world.app.call('POST', path, { token, body })).body[key] as unknown;
}

describe('use after free', () => {
  it('is tested with every kind of removable object', () => {
    const removing = OPERATIONS.filter(({ method, title }) => method === 'DELETE' || title.endsWith(':archive'));
    const withoutPath = ['DELETE /message-backlog-settings'];
    const known = FREED.map(({ free }) => free);
    expect(removing.map(({ title }) => title).filter((title) => ![...known, ...withoutPath].includes(title))).toEqual(
      [],
    );
  });

  it.each(FREED.map((freed) => [freed.free, freed] as const))(
    'after %s nothing more is done with it',
    async (title, freed) => {
      const id = await freed.make();
      const samples = samplesFor({ [freed.parameter]: id });
      const free = OPERATIONS.find((operation) => operation.title === title)!;
      expect((await call(free, samples)).status).toBeLessThan(300);
      last = await world.fingerprint();
      for (const operation of OPERATIONS.filter((o) => String(o.pathParameters) === freed.parameter)) {
        const response = await call(operation, samples);
        const never = await call(operation, { ...samples, [freed.parameter]: NEVER[freed.parameter] });
        const repeats = operation === free || operation.title.endsWith(':redact');
        if (freed.removed) {
          expect([response.status, plain(response.text)], operation.title).toEqual([404, plain(never.text)]);
        } else if (operation.method === 'GET' || repeats) {
          // What is archived can be read, and archived again without anything happening.
          expect(response.status, `${operation.title} ${response.text}`).toBeLessThan(300);
        } else {
          expect([400, 404, 409], `${operation.title} ${response.text}`).toContain(response.status);
        }
        // A report is made of an archived profile too.
        const mayStore = operation.title.endsWith(':redact') || operation.title.endsWith('/report');
        if (mayStore) last = await world.fingerprint();
        await expectNothingStored();
      }
    },
  );
});

const plain = (text: string) => text.replace(/\d+/g, '#');

describe('hierarchy', () => {
  const nested = OPERATIONS.filter(({ pathParameters }) => pathParameters.length > 1);
  it.each(nested.map((o) => [o.title, o] as const))('%s finds no child below another parent', async (_, operation) => {
    const body = { title: 'Other parent', code: '#!/bin/sh\ntrue\n' };
    const parent = operation.pathParameters[0]!;
    expect(parent).toBe('script_id');
    const other = await world.app.call('POST', '/scripts', {
      token,
      body: { ...body, title: `Parent of ${operation.id}` },
    });
    const own = world.objects['script_id'];
    // A second version, which the other script has not.
    await world.app.call('PATCH', `/scripts/${own}`, { token, body: { code: `#!/bin/sh\n: ${operation.id}\n` } });
    const version = (await world.app.call('GET', `/scripts/${own}`, { token })).body;
    const children = { script_version_id: version.version_number, script_attachment_id: version.attachments[0]?.id };
    const right = await call(operation, samplesFor({ ...children, script_id: own }));
    expect(right.status, right.text).toBe(200);
    const wrong = await call(operation, samplesFor({ ...children, script_id: other.body.id }));
    const never = await call(operation, samplesFor({ ...NEVER, script_id: other.body.id, script_version_id: 9999 }));
    expect([wrong.status, plain(wrong.text)]).toEqual([404, plain(never.text)]);
  });
});

describe('dynamic objects', () => {
  // The secret of an invitation is none.
  const isNumber = (name: string) => name.endsWith('_id') && name !== 'secure_id';
  const numbered = OPERATIONS.filter(({ pathParameters }) => pathParameters.some(isNumber));
  const forms = (id: string) => [
    '',
    '-1',
    '0',
    `-${id}`,
    `+${id}`,
    `${id}.0`,
    `${id}.5`,
    `${id}e0`,
    `0x${id}`,
    `${id},${id}`,
    `${id}a`,
    ` ${id}`,
    `${id} OR 1=1`,
    `${id}'--`,
    `${id}\u0000`,
    '१',
    'null',
    'undefined',
    '2147483648',
    '9007199254740993',
    '1e400',
    '{}',
    '[]',
    '%2e%2e',
  ];

  it.each(numbered.map((o) => [o.title, o] as const))(
    'ID-bad: %s takes nothing else for the id of one that exists',
    async (_, operation) => {
      last = await world.fingerprint();
      const samples = samplesFor();
      const [parameter] = operation.pathParameters.filter(isNumber);
      for (const form of forms(String(samples[parameter!]))) {
        const response = await call(operation, { ...samples, [parameter!]: form });
        // Nothing at all in its place is another address.
        const expected = form === '' ? [400, 403, 404, 405, 200] : [400, 404];
        expect(expected, `${JSON.stringify(form)}: ${response.text}`).toContain(response.status);
        if (response.status === 200) expect(operation.method).toBe('GET');
      }
      await expectNothingStored();
    },
  );
});

describe('bodies', () => {
  const withBody = OPERATIONS.filter(({ body }) => body !== null);
  const VALUES: ReadonlyArray<readonly [string, unknown]> = [
    ['string', 'wrong'],
    ['number', 7.5],
    ['boolean', true],
    ['array', [[]]],
    ['object', { a: {} }],
  ];

  it.each(withBody.map((o) => [o.title, o] as const))(
    'LEAK: %s stores nothing when a field is of another type',
    async (_, operation) => {
      last = await world.fingerprint();
      const samples = samplesFor({ email: ADMIN.email, password: ADMIN.password });
      const right = sampleBody(operation, samples) as Record<string, unknown>;
      for (const { name, types } of fieldTypes(operation)) {
        for (const [type, value] of VALUES) {
          const fits = types.includes(type) || (type === 'number' && types.includes('integer'));
          if (types.length === 0 || (fits && type !== 'array')) continue;
          const response = await call(operation, samples, { ...right, [name]: value });
          expect(response.status, `${name} as ${type}: ${response.text}`).toBeGreaterThanOrEqual(400);
          expect(response.status, `${name} as ${type}: ${response.text}`).toBeLessThan(500);
        }
      }
      await expectNothingStored();
    },
  );

  it.each(withBody.map((o) => [o.title, o] as const))(
    'LEAK: %s stores nothing of a body that is none',
    async (_, operation) => {
      last = await world.fingerprint();
      const path = samplePath(operation, samplesFor());
      for (const raw of [
        'null',
        '[]',
        '[{}]',
        '"text"',
        '7',
        'true',
        '{',
        '{"a":',
        '{"a":1}}',
        '\u0000',
        '[['.repeat(500),
      ]) {
        const response = await world.app.call(operation.method, path, { token, raw });
        expect(response.status, `${raw.slice(0, 20)}: ${response.text}`).toBeGreaterThanOrEqual(400);
        expect(response.status, `${raw.slice(0, 20)}: ${response.text}`).toBeLessThan(500);
      }
      await expectNothingStored();
    },
  );
});
