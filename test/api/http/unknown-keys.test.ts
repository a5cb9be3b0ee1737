import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createRightsWorld, mayEndTokens, type RightsWorld } from '../../support/identity/rights-world.ts';
import { type DocumentedOperation, OPERATIONS, sampleBody, samplePath } from '../../support/http/sample-requests.ts';

const QUERY_KEY = 'invented_parameter';
const BODY_KEY = 'invented_field';
const ALL = OPERATIONS.map((operation) => [operation.title, operation] as const);
/** What reading something changes nothing in; a body of theirs is not looked at. */
const WITHOUT_BODY = new Set(['GET']);

let strict: RightsWorld;
/** Of `strict`: nothing that is rejected ends it. */
let token: string;
let ignoring: RightsWorld;
const tokens = new Map<RightsWorld, string>();

beforeAll(async () => {
  strict = await createRightsWorld();
  token = await strict.app.login();
  ignoring = await createRightsWorld({ unknownKeys: 'ignore' });
  tokens.set(strict, token).set(ignoring, await ignoring.app.login());
});

afterAll(async () => {
  await strict?.close();
  await ignoring?.close();
});

/** A right request of the administrator, with keys that no operation knows. */
async function send(world: RightsWorld, operation: DocumentedOperation, prefix = '') {
  const inPath = operation.pathParameters.includes('invitation_id');
  const samples = {
    ...world.objects,
    ...(inPath ? {} : { invitation_id: world.objects['secure_id'] }),
    name: `sample-${operation.id.toLowerCase()}`,
    title: `Sample ${operation.id}`,
    email: ADMIN.email,
    password: ADMIN.password,
    new_password: ADMIN.password,
    account: 'standalone',
    account_name: 'standalone',
    snaps: [{ name: 'hello', [BODY_KEY]: 1 }],
    trigger: { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z', [BODY_KEY]: 1 },
    ...(operation.id === 'deleteComputers' && world === ignoring
      ? { computer_ids: [await insertComputer(world.db, world)] }
      : {}),
  };
  const path = samplePath(operation, samples);
  const body = { ...(sampleBody(operation, samples) as object | undefined), [BODY_KEY]: 'x' };
  const response = await world.app.call(
    operation.method,
    `${prefix}${path}${path.includes('?') ? '&' : '?'}${QUERY_KEY}=1`,
    { token: tokens.get(world)!, ...(WITHOUT_BODY.has(operation.method) ? {} : { body }) },
  );
  if (response.status < 300 && mayEndTokens(operation)) tokens.set(world, await world.app.login());
  return response;
}

/** Where the request has keys that are unknown. */
function placesOf(operation: DocumentedOperation): string[] {
  const fields = Object.keys((operation.body?.['properties'] as object | undefined) ?? {});
  return [
    `query.${QUERY_KEY}`,
    ...(fields.includes('snaps') ? [`body.snaps.0.${BODY_KEY}`] : []),
    ...(fields.includes('trigger') ? [`body.trigger.${BODY_KEY}`] : []),
    ...(WITHOUT_BODY.has(operation.method) ? [] : [`body.${BODY_KEY}`]),
  ];
}

describe('unknown parameters and fields', () => {
  it.each(ALL)('%s rejects them in query and body, and stores nothing', async (_, operation) => {
    const before = await strict.fingerprint();
    const { status, body } = await send(strict, operation);
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'InvalidParameter' });
    const unknown = body.details.filter(({ message }: { message: string }) => message.startsWith('unknown '));
    expect(unknown.map(({ path }: { path: string }) => path).sort()).toEqual(placesOf(operation).sort());
    for (const { message } of unknown) {
      expect(message).toMatch(/^unknown (parameter "invented_parameter"|field "invented_field")$/);
    }
    expect(await strict.fingerprint()).toBe(before);
  });

  it.each(ALL)('%s ignores and names them if the server is set to', async (_, operation) => {
    const { status, headers, text } = await send(ignoring, operation);
    // No test has a mail server.
    expect(status < 500 || status === 502, text).toBe(true);
    expect(text).not.toContain('invented');
    expect(headers.get('flotilla-ignored')?.split(',').sort()).toEqual(placesOf(operation).sort());
  });

  it('are rejected at deprecated paths too', async () => {
    const list = OPERATIONS.find(({ id }) => id === 'listUsgProfiles')!;
    for (const path of ['/security-profiles', '/api/usg-profiles', '/api/security-profiles']) {
      expect((await strict.app.call('GET', `${path}?statuss=active`, { token })).body.details).toEqual([
        { path: 'query.statuss', message: 'unknown parameter "statuss"; did you mean "status"?' },
      ]);
    }
    expect((await send(strict, list, '/api')).status).toBe(400);
  });

  it('are among up to 20 faults, or named in a header of limited size', async () => {
    const many = Array.from({ length: 800 }, (_, n) => `key${n}=1`).join('&');
    const rejected = await strict.app.call('GET', `/computers?${many}`, { token });
    expect(rejected.body.details).toHaveLength(20);
    const ignored = await ignoring.app.call('GET', `/computers?limit=1&${many}`, { token: await ignoring.app.login() });
    expect(ignored.status).toBe(200);
    expect(ignored.headers.get('flotilla-ignored')!.length).toBeLessThanOrEqual(4000);
  });

  it('cannot write into the header that names them', async () => {
    const path = `/computers?limit=1&${encodeURIComponent('a\r\nSet-Cookie: b,é')}=1`;
    const response = await ignoring.app.call('GET', path, { token: await ignoring.app.login() });
    expect(response.headers.get('flotilla-ignored')).toBe('query.a%0D%0ASet-Cookie%3A%20b%2C%C3%A9');
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  it('are rejected where no body is declared, but an empty body is not', async () => {
    const post = (raw: string) =>
      strict.app.call('POST', `/scripts/${strict.objects['script_id']}:archive`, { token, raw });
    for (const raw of ['[]', '"text"', '7', '{"a":1}']) expect((await post(raw)).body.error).toBe('InvalidParameter');
    for (const raw of ['{}', 'null', '']) expect((await post(raw)).status).toBe(204);
  });

  it('are rejected in forms too', async () => {
    const path = `/computers/${strict.objects['computer_id']}/kernel/upgrade`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const raw = `kernel_package_id=${strict.objects['kernel_package_id']}&reboot_aftr=true&__proto__=1`;
    const before = await strict.fingerprint();
    const response = await strict.app.call('POST', path, { token, raw, headers });
    expect(response.body.details).toEqual([
      { path: 'body.reboot_aftr', message: 'unknown field "reboot_aftr"; did you mean "reboot_after"?' },
      { path: 'body.__proto__', message: 'unknown field "__proto__"' },
    ]);
    expect(await strict.fingerprint()).toBe(before);
  });
});

describe('the nearest known key', () => {
  const faults = async (method: string, path: string, body?: object) =>
    (await strict.app.call(method, path, { token, body })).body;

  it('is named for a misspelt field, which has no effect', async () => {
    const before = await strict.fingerprint();
    const path = `/computers/${strict.objects['computer_id']}/restart`;
    expect(await faults('POST', path, { deliver_afer: '2090-01-01T00:00:00Z' })).toEqual({
      error: 'InvalidParameter',
      message: 'body.deliver_afer: unknown field "deliver_afer"; did you mean "deliver_after"?',
      code: 400,
      details: [{ path: 'body.deliver_afer', message: 'unknown field "deliver_afer"; did you mean "deliver_after"?' }],
    });
    expect(await strict.fingerprint()).toBe(before);
  });

  it.each([
    ['POST', '/snaps', { snaps: [{ name: 'a', chanel: 'x' }] }, 'body.snaps.0.chanel', '"channel"'],
    ['POST', '/snaps', { computerIds: [1] }, 'body.computerIds', '"computer_ids"'],
    ['GET', '/computers?with_alert=1', undefined, 'query.with_alert', '"with_alerts"'],
    ['GET', '/scripts?serch=x', undefined, 'query.serch', '"search"'],
    ['GET', '/computers?archived=true', undefined, 'query.archived', '"archived_only"'],
    ['GET', '/computers?hardware=true', undefined, 'query.hardware', '"with_hardware"'],
    ['GET', '/computers?lim=5', undefined, 'query.lim', '"limit"'],
  ])('%s %s with %j: %s was meant to be %s', async (method, path, body, place, meant) => {
    const { details } = await faults(method, path, body);
    const fault = details.find((detail: { path: string }) => detail.path === place);
    expect(fault.message).toContain(`did you mean ${meant}?`);
  });

  it.each([
    ['/computers?tag=web', 'query.tag', 'query=tag:web'],
    ['/computers?tags=web', 'query.tags', 'query=tag:web'],
    ['/computers?title=lab%201', 'query.title', 'query=title:"lab 1"'],
    ['/computers?title=a%20%22b%22%5C', 'query.title', 'query=title:"a \\"b\\"\\\\"'],
    ['/computers?access_group=servers', 'query.access_group', 'query=access-group:servers'],
    ['/computers?annotation=rack:7', 'query.annotation', 'query=annotation:rack:7'],
    ['/computers?id=7', 'query.id', 'query=id:7'],
    ['/computers?needs=reboot', 'query.needs', 'query=needs:reboot'],
    ['/computers?query=web&tag=lab', 'query.tag', 'query=web tag:lab'],
    ['/computers?tag=a&tag=b', 'query.tag', 'query=tag:a tag:b'],
    ['/packages?hostname=web', 'query.hostname', 'query=hostname:web'],
    ['/activities?status=failed', 'query.status', 'query=status:failed'],
    ['/activities?type=ActivityGroup', 'query.type', 'query=type:ActivityGroup'],
    ['/activities?parent_id=4', 'query.parent_id', 'query=parent-id:4'],
    ['/activities?computer_id=4', 'query.computer_id', 'query=computer:id:4'],
    ['/activities/parents?tag=lab', 'query.tag', 'query=computer:tag:lab'],
  ])('%s: is a selector, with the query that was meant', async (path, place, query) => {
    const name = place.slice('query.'.length);
    expect((await faults('GET', path)).details).toEqual([
      { path: place, message: `unknown parameter "${name}"; did you mean ${query}?` },
    ]);
    const [address] = path.split('?');
    const meant = new URLSearchParams({ query: query.slice('query='.length) });
    const response = await strict.app.call('GET', `${address}?${meant}`, { token });
    expect(response.status).toBe(200);
  });

  it.each(['/computers?id=web', '/computers?tag=', '/computers?alert=flood', `/computers?tag=${'x'.repeat(500)}`])(
    '%s: is a selector, without a query that would be rejected',
    async (path) => {
      const [{ message }] = (await faults('GET', path)).details;
      expect(message).toMatch(/; did you mean the selector "(id|tag|alert):" of query\?$/);
    },
  );

  it('distinguishes fields of the body from parameters of the query', async () => {
    const restart = `/computers/${strict.objects['computer_id']}/restart`;
    expect((await faults('POST', `${restart}?deliver_after=2090-01-01`)).message).toBe(
      'query.deliver_after: unknown parameter "deliver_after"; it is a field of the body',
    );
  });
});
