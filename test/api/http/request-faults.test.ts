import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BENCHMARKS } from '../../../src/domain/compliance/profile.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { NEVER } from '../../support/identity/rights-world.ts';
import { type DocumentedOperation, OPERATIONS, sampleBody, samplePath } from '../../support/http/sample-requests.ts';
import fc from '../../support/common/random.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: unknown) =>
  world.app.call(method, path, { token: world.tokens.admin, body });
const faultsOf = (details: Array<{ path: string; message: string }>) =>
  Object.fromEntries(details.map(({ path, message }) => [path, message]));

async function stored(): Promise<object> {
  const tables = ['activity', 'usg_profile', 'script', 'script_profile', 'event'];
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  const [row] = await world.db.query(`select ${counts.join(', ')}`);
  return row!;
}

describe('a response names every fault of a request', () => {
  it('of a USG profile', async () => {
    const before = await stored();
    const { body } = await call('POST', '/usg-profiles?dry=1', {
      title: ' ',
      benchmark: 'cis_level9',
      mode: 'destroy',
      schedule: 'FREQ=YEARLY;BYMONTH=13',
      start_date: 'tomorrow',
      timezone: 'Mars/Olympus',
      all_computers: 'yes',
      tags: ['lab', 'a b', 7],
      restart_deliver_delay: 721,
      taggs: [],
    });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect(faultsOf(body.details)).toEqual({
      'query.dry': 'unknown parameter "dry"',
      'body.title': 'must be one line of 1 to 255 characters',
      'body.benchmark': `must be one of ${BENCHMARKS.join(', ')}`,
      'body.mode': 'must be one of audit, fix-audit, fix-restart-audit, audit-fix, audit-fix-restart',
      'body.schedule': 'BYMONTH must list months from 1 to 12, and 13 is not one',
      'body.start_date': 'must be an ISO 8601 date and time between 1900 and 2099',
      'body.timezone': 'must be the name of a time zone, such as Europe/Madrid',
      'body.all_computers': 'must be true or false or null',
      'body.tags.1': 'must have 1 to 50 letters with their marks, digits and dashes each',
      'body.tags.2': 'must be a string',
      'body.restart_deliver_delay': 'must be <= 720',
      'body.taggs': 'unknown field "taggs"; did you mean "tags"?',
    });
    expect(body.message).toContain('body.title must be one line of 1 to 255 characters; ');
    expect(await stored()).toEqual(before);
  });

  it('of a script profile, by the type of its trigger', async () => {
    const { body } = await call('POST', '/script-profiles', {
      title: 'Nightly',
      all_computers: true,
      time_limit: 0,
      username: 'a b',
      trigger: { trigger_type: 'recurring', interval: '61 * * * *' },
    });
    expect(faultsOf(body.details)).toEqual({
      'body.script_id': 'is required',
      'body.tags': 'is required',
      'body.time_limit': 'must be >= 1',
      'body.username': 'must be a login name of 1 to 32 letters, digits, dots, dashes and underscores',
      'body.trigger.start_after': 'is required',
      'body.trigger.interval': 'has no valid minute',
    });
  });

  it('of an action on snaps, in the order of the request', async () => {
    const { body } = await call('POST', '/snaps', {
      action: 'explode',
      computer_ids: [1, 'two', 0],
      snaps: [{ channel: '' }, { name: 'a b', classic: 'yes' }],
    });
    expect(body.details).toEqual([
      { path: 'body.action', message: 'must be one of install, remove, refresh, hold, unhold' },
      { path: 'body.computer_ids.1', message: 'must be an integer' },
      { path: 'body.computer_ids.2', message: 'must be >= 1' },
      { path: 'body.snaps.0.name', message: 'is required' },
      { path: 'body.snaps.0.channel', message: 'must be a channel such as latest/stable' },
      {
        path: 'body.snaps.1.name',
        message: 'must be the name of a snap, of letters, digits, dots, dashes and underscores',
      },
      { path: 'body.snaps.1.classic', message: 'must be true or false or null' },
    ]);
  });

  it('of a script and its files', async () => {
    const attachments = [{ filename: 'a/b', content: '!' }, { filename: 'c', content: 'eA==' }, { filename: 'd' }];
    const { body } = await call('POST', '/scripts', { title: '', code: 'true', attachments });
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.title',
      'body.code',
      'body.attachments.0.filename',
      'body.attachments.0.content',
      'body.attachments.2.content',
    ]);
  });

  it('of snaps that a pattern cannot express', async () => {
    const snaps = [{ name: 'a' }, { name: 'a', time: 'never' }, { name: 'b', time: 'soon' }];
    const { body } = await call('POST', '/snaps', { action: 'hold', computer_ids: [world.ids['web']], snaps });
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.snaps.1.name',
      'body.snaps.1.time',
      'body.snaps.2.time',
    ]);
  });

  it('of parameters, each once', async () => {
    const path = '/computers?limit=-1&offset=x&root_only=maybe&with_alerts=&query=%00&status=gone&limits=1';
    expect(faultsOf((await call('GET', path)).body.details)).toEqual({
      'query.limit': 'must be >= 0',
      'query.offset': 'must be an integer',
      'query.root_only': 'must be true or false',
      'query.with_alerts': 'must be true or false',
      'query.query': 'must not contain U+0000',
      'query.status': 'must be one of active, archived, all',
      'query.limits': 'unknown parameter "limits"; did you mean "limit"?',
    });
    expect(
      faultsOf((await call('GET', '/computers/activities?computer_ids=1,x&limit=1&limit=2')).body.details),
    ).toEqual({
      'query.computer_ids.1': 'must be an integer',
      'query.limit': 'must be given once',
    });
    expect((await call('GET', '/computers/activities')).body.details).toEqual([
      { path: 'query.computer_ids', message: 'is required' },
    ]);
  });

  it('of parameters besides an invalid query', async () => {
    for (const path of ['/computers', '/activities', '/activities/parents', '/packages']) {
      const { body } = await call('GET', `${path}?query=never:was&limit=-1&offst=1`);
      expect([path, faultsOf(body.details)]).toEqual([
        path,
        {
          'query.query': expect.stringMatching(/^character 1: expected /),
          'query.limit': 'must be >= 0',
          'query.offst': 'unknown parameter "offst"; did you mean "offset"?',
        },
      ]);
      expect((await call('GET', `${path}?query=never:was`)).body.error).toBe('InvalidQueryError');
    }
  });

  it.each([
    ['/computers:annotate', { query: 'never:was', key: 'a b', value: 'x' }, 'query', 'key'],
    ['/scripts/1:execute', { query: 'never:was', time_limit: 0 }, 'query', 'time_limit'],
    ['/activities/cancel', { query: 'never:was', activity_id: 1 }, 'query', 'activity_id'],
    ['/saved-searches', { title: '', search: 'never:was' }, 'search', 'title'],
  ])('of %s with %j', async (path, sent, query, other) => {
    const places = (await call('POST', path, sent)).body.details.map((detail: { path: string }) => detail.path);
    expect(places.sort()).toEqual([`body.${query}`, `body.${other}`].sort());
  });

  it('twenty at most', async () => {
    const { body } = await call('POST', '/snaps', { computer_ids: Array(1000).fill('x'), snaps: [{}] });
    expect(body.details).toHaveLength(20);
    expect(new Set(body.details.map(({ path }: { path: string }) => path)).size).toBe(20);
  });

  it.each([
    ['FREQ=WEEKLY;', 'must not end with a semicolon'],
    ['FREQ=WEEKLY; BYDAY=MO', 'must not have spaces'],
    ['DTSTART=20260101;FREQ=WEEKLY', 'must not have DTSTART; the rule counts from the start date of the profile'],
    ['FREQ=YEARLY;BYMONTH=13', 'BYMONTH must list months from 1 to 12, and 13 is not one'],
  ])('of the rule %s', async (schedule, message) => {
    const request = { title: 'A', benchmark: 'disa_stig', mode: 'audit', start_date: '2090-01-01' };
    const { body } = await call('POST', '/usg-profiles', { ...request, schedule });
    expect(body.details).toEqual([{ path: 'body.schedule', message }]);
    const { id } = (await call('POST', '/usg-profiles', { ...request, schedule: 'FREQ=WEEKLY' })).body;
    const patched = await call('PATCH', `/usg-profiles/${id}`, { schedule });
    expect(patched.body.details).toEqual([{ path: 'body.schedule', message }]);
  });
});

describe('invalid values', () => {
  /** How the validator would have put it. */
  const FOREIGN = /must NOT|must have required|exactly one schema|a schema in anyOf|allowed values|must match/;
  const withBody = OPERATIONS.filter(({ body, id }) => body !== null && id !== 'createStandaloneAccount');

  const value = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      1e10,
      '',
      ' ',
      'a b',
      'x'.repeat(300),
      [],
      {},
      [null],
      ['a b'],
      [0],
    ),
    fc.constantFrom<unknown>('2026-02-30', 'FREQ=WEEKLY;', '* * * *', [{}], [{ name: 1 }], { trigger_type: 'event' }),
    fc.json().map((text) => JSON.parse(text) as unknown),
  );

  /** A body with some of its fields replaced, and some taken away. */
  function bodies(operation: DocumentedOperation): fc.Arbitrary<Record<string, unknown>> {
    const sample = sampleBody(operation, NEVER) as Record<string, unknown>;
    const fields = Object.keys(operation.body!['properties'] as object);
    return fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 4, noNullPrototype: true }).map((changes) => {
      const body = { ...sample, ...changes };
      return Object.fromEntries(Object.entries(body).filter(([name]) => !(name in changes) || changes[name] !== 0));
    });
  }

  it.each(withBody.map((operation) => [operation.title, operation] as const))(
    '%s lists in plain words, each place once',
    async (_, operation) => {
      const path = samplePath(operation, { ...NEVER, account_name: 'never-was' });
      for (const body of fc.sample(bodies(operation), 12)) {
        const response = await call(operation.method, path, body);
        expect(response.status, response.text).toBeLessThan(500);
        if (response.body?.error !== 'InvalidParameter') continue;
        const places = response.body.details.map((detail: { path: string }) => detail.path);
        expect(new Set(places).size).toBe(places.length);
        expect(response.body.message, JSON.stringify(body)).not.toMatch(FOREIGN);
      }
    },
  );
});
