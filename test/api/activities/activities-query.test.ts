import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NASTY } from '../../persistence/query/query-reference.ts';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { ADMIN } from '../../support/http/app.ts';

let world: FleetWorld;
/** Groups by name: ended (web succeeded, db failed, desk still out), later (db), quick (web). */
const groups: Record<string, number> = {};

beforeAll(async () => {
  world = await createFleetWorld();
  groups['ended'] = await snaps(['web', 'db', 'desk'], { action: 'hold', snaps: [{ name: 'hello' }] });
  await world.processEvents();
  const [first, second] = await childrenOf(world.db, groups['ended']);
  const at = world.clock.now();
  await addEvent(world.db, { batch: first!.lane_id, activity: first!.id, kind: 'result', ok: true, at });
  await addEvent(world.db, { batch: second!.lane_id, activity: second!.id, kind: 'result', ok: false, at });
  await world.processEvents();
  world.clock.advance(13 * 3_600_000);
  groups['later'] = await snaps(['db'], { deliver_after: '2026-11-22T02:00:00Z' });
  groups['quick'] = await snaps(['web']);
  await world.db.query(`update computer set tags = '{lab}' where id = $1`, [world.ids['db']]);
});
afterAll(() => world?.close());

async function snaps(computers: string[], over: object = {}): Promise<number> {
  const body = { action: 'install', computer_ids: computers.map((title) => world.ids[title]), snaps: [{ name: 'a' }] };
  const response = await world.app.call('POST', '/snaps', { token: world.tokens.admin, body: { ...body, ...over } });
  expect(response.status).toBe(200);
  return response.body.id;
}

const search = (path: string, query: string, token = world.tokens.admin) =>
  world.app.call('GET', `${path}?query=${encodeURIComponent(query)}`, { token });
async function parents(query: string, token = world.tokens.admin): Promise<string[]> {
  const { status, body } = await search('/activities/parents', query, token);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results.map(({ id }: { id: number }) => Object.keys(groups).find((name) => groups[name] === id));
}
async function flat(query: string, token = world.tokens.admin) {
  const { status, body } = await search('/activities', query, token);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results as Array<{ id: number; parent_id: number | null; activity_status: string; computer_id: number }>;
}

describe('GET /activities/parents?query=', () => {
  it('finds by part of the summary, in any case', async () => {
    expect(await parents('')).toEqual(['quick', 'later', 'ended']);
    expect(await parents('INSTALL snaps')).toEqual(['quick', 'later']);
    expect(await parents('"hold snaps"')).toEqual(['ended']);
    expect(await parents('nothing')).toEqual([]);
  });

  it('finds by status as it is shown, in every form', async () => {
    expect(await parents('status:delivered')).toEqual(['ended']);
    expect(await parents('activity_status:in-progress')).toEqual(['ended']);
    expect(await parents('status:scheduled')).toEqual(['later']);
    expect(await parents('status:queued')).toEqual(['quick']);
    expect(await parents('NOT status:undelivered')).toEqual(['later', 'ended']);
    expect(await parents('status:complete OR status:scheduled')).toEqual(['later']);
    world.clock.advance(2 * 3_600_000);
    expect(await parents('status:scheduled')).toEqual([]);
    expect(await parents('status:undelivered')).toEqual(['quick', 'later']);
    world.clock.advance(-2 * 3_600_000);
  });

  it('finds by creator and time, at or after the start of a period and strictly before it', async () => {
    expect(await parents(`creator:${ADMIN.email.toUpperCase()}`)).toHaveLength(3);
    expect(await parents('creator:nobody@fleet.example')).toEqual([]);
    expect(await parents('created-after:2026-11')).toHaveLength(3);
    expect(await parents('created-after:2026-11-22')).toEqual(['quick', 'later']);
    expect(await parents('created-before:2026-11-22')).toEqual(['ended']);
    expect(await parents('created-after:2026-11-21T12:00 created-before:2026-11-21T12:01')).toEqual(['ended']);
    expect(await parents('created-after:2026-11-21T12:01')).toEqual(['quick', 'later']);
    expect(await parents('created-before:2026-11-21T12:00')).toEqual([]);
  });

  it('finds groups by any of their computers, with a term or a quoted query', async () => {
    expect(await parents('computer:tag:lab')).toEqual(['later', 'ended']);
    expect(await parents('computer:web')).toEqual(['quick', 'ended']);
    expect(await parents(`computer:id:${world.ids['desk']}`)).toEqual(['ended']);
    expect(await parents('computer:"tag:lab OR title:desk"')).toEqual(['later', 'ended']);
    expect(await parents('NOT computer:web')).toEqual(['later']);
    await world.app.call('POST', '/saved-searches', {
      token: world.tokens.admin,
      body: { name: 'lab', title: 'Lab', search: 'tag:lab' },
    });
    expect(await parents('computer:search:lab')).toEqual(['later', 'ended']);
  });

  it('takes quotes and backslashes in quoted parts, as lists of computers do', async () => {
    await world.db.query(`update computer set title = $2 where id = $1`, [world.ids['db'], 'a "b" \\c']);
    const term = 'title:"a \\"b\\" \\\\c"';
    expect(await parents(`computer:${term}`)).toEqual(['later', 'ended']);
    expect(await parents(`computer:${JSON.stringify(`${term} tag:lab`)}`)).toEqual(['later', 'ended']);
    const { results } = (await search('/computers', term)).body;
    expect(results.map(({ id }: { id: number }) => id)).toEqual([world.ids['db']]);
    await world.db.query(`update computer set title = 'db' where id = $1`, [world.ids['db']]);
  });

  it('reveals nothing about computers out of sight', async () => {
    expect(await parents('', world.tokens.servers)).toEqual(['quick', 'later', 'ended']);
    expect(await parents('computer:title:desk', world.tokens.servers)).toEqual([]);
    expect(await parents('computer:title:desk')).toEqual(['ended']);
    expect(await parents('', world.tokens.foreign)).toEqual([]);
    expect(await parents(`id:${groups['ended']}`, world.tokens.foreign)).toEqual([]);
  });
});

describe('GET /activities?query=', () => {
  it('finds operations and groups alike', async () => {
    const children = await flat(`parent-id:${groups['ended']}`);
    expect(children.map(({ activity_status }) => activity_status)).toEqual(['undelivered', 'failed', 'succeeded']);
    expect((await flat(`id:${groups['ended']}`)).map(({ id }) => id)).toEqual([groups['ended']]);
    expect((await flat('type:HoldSnaps status:failed')).map(({ computer_id }) => computer_id)).toEqual([
      world.ids['db'],
    ]);
    expect(await flat('type:holdsnaps')).toEqual([]);
    const ofDesk = await flat('computer:desk');
    expect(ofDesk.map(({ computer_id, id }) => computer_id ?? id)).toEqual([world.ids['desk'], groups['ended']]);
    expect((await flat('computer:desk type:ActivityGroup')).map(({ id }) => id)).toEqual([groups['ended']]);
  });

  it('finds as waiting what a full queue holds back', async () => {
    await world.app.call('PUT', '/message-backlog-settings', {
      token: world.tokens.admin,
      body: { max_message_backlog: 0 },
    });
    const held = await snaps(['desk']);
    await world.processEvents();
    expect((await flat('status:waiting')).map(({ id, parent_id }) => parent_id ?? id)).toEqual([
      ...[held, held],
      ...[groups['quick'], groups['quick'], groups['ended']],
    ]);
    expect((await flat(`status:undelivered parent-id:${held}`)).length).toBe(0);
    await world.app.call('DELETE', '/message-backlog-settings', { token: world.tokens.admin });
    await world.db.query('delete from activity where $1 in (id, parent_id)', [held]);
  });

  it('keeps the query in links to other pages and counts all', async () => {
    const { body } = await world.app.call('GET', '/activities?query=status%3Asucceeded%20OR%20snaps&limit=2', {
      token: world.tokens.admin,
    });
    expect(body.count).toBeGreaterThan(3);
    expect(body.results).toHaveLength(2);
    const next = new URL(body.next);
    expect(next.searchParams.get('query')).toBe('status:succeeded OR snaps');
    const second = await world.app.call('GET', `/activities${next.search}`, { token: world.tokens.admin });
    expect(second.body.count).toBe(body.count);
    expect(second.body.results[0].id).toBeLessThan(body.results[1].id);
  });

  it('LIKE-wild: takes %, _ and \\ for themselves', async () => {
    for (const wild of ['%', '_', '\\', 'inst%', 'h_ld']) expect(await flat(wild), wild).toEqual([]);
  });

  it('QUERY-badsel: rejects with the place and what was expected', async () => {
    const response = await search('/activities', 'snaps id:abc');
    expect([response.status, response.body]).toEqual([
      400,
      {
        error: 'InvalidQueryError',
        message: 'The query is invalid at character 7: expected a non-negative integer after id:',
        code: 400,
        details: [
          { path: 'query.query', position: 7, message: 'character 7: expected a non-negative integer after id:' },
        ],
      },
    ]);
    const bad = [
      ...['status:done', 'status:Succeeded', 'status:constructor', 'parent-id:-1', 'parent-id:1.5', 'tag:lab', 'OR'],
      ...['snaps OR', 'NOT', 'nope:1', '"web', 'computer:', 'computer:nope:1', 'computer:id:x', 'computer:search:none'],
      ...['created-after:yesterday', 'created-after:2026', 'created-after:2026-13', 'created-before:2026-02-30'],
      ...['created-before:2026-05-04T25:00', 'created-after:2026-05-04T10:30:00Z', 'created-after:0000-01'],
      ...['computer:"tag:lab OR"', 'computer:OR', `computer:"${'a '.repeat(201)}"`, 'a '.repeat(201), 'a'.repeat(9000)],
    ];
    for (const path of ['/activities', '/activities/parents']) {
      for (const query of bad) {
        expect((await search(path, query)).body, query).toMatchObject({ error: 'InvalidQueryError', code: 400 });
      }
    }
    const nested = await search('/activities', 'snaps computer:"lab id:x"');
    expect(nested.body.details[0].message).toBe(
      'character 7: expected a query over computers (of it, character 5: expected a non-negative integer after id:) after computer:',
    );
    expect(await flat('or')).toEqual([]);
  });

  it('SQLI-query: finds nothing or rejects, in every selector', async () => {
    const before = (await flat('')).length;
    const selectors = ['', 'id:', 'parent-id:', 'status:', 'activity_status:', 'type:', 'creator:', 'created-after:'];
    for (const selector of [...selectors, 'created-before:', 'computer:', 'computer:tag:', 'computer:ip:']) {
      for (const attack of [...NASTY, "') or ('1'='1", '1 UNION SELECT password_hash FROM person --']) {
        if (selector.match(/^(computer:)?$/) && !attack.trim()) continue;
        const { status, body } = await search('/activities', `${selector}"${attack}"`);
        expect([200, 400], `${selector}${attack}`).toContain(status);
        expect(status === 200 ? body.count : body.error, `${selector}${attack}`).toBe(
          status === 200 ? 0 : 'InvalidQueryError',
        );
      }
    }
    expect((await world.app.call('GET', '/activities?query=a%00', { token: world.tokens.admin })).status).toBe(400);
    expect((await flat('')).length).toBe(before);
  });

  it('QUERY-deep: responds at the limits and rejects beyond them', async () => {
    expect((await search('/activities', `${'NOT '.repeat(1000)}snaps`)).status).toBe(200);
    const many = Array.from({ length: 100 }, (_, place) => `computer:tag:t${place} OR status:waiting`).join(' OR ');
    expect((await search('/activities', many)).status).toBe(200);
    expect((await search('/activities', 'NOT '.repeat(100_000))).status).toBeGreaterThanOrEqual(400);
  });

  it('PAGE-bad: rejects wrong pages and returns far ones', async () => {
    const page = (text: string) =>
      world.app.call('GET', `/activities?query=snaps&${text}`, { token: world.tokens.admin });
    const wrong = 'limit=-1 limit=1.5 limit=NaN limit= limit=1&limit=2 offset=-1 offset=1e3 offset=9223372036854775808';
    for (const text of wrong.split(' ')) expect((await page(text)).body.error, text).toBe('InvalidParameter');
    const far = await page('offset=9007199254740991&limit=1000000');
    expect([far.status, far.body.results, far.body.next]).toEqual([200, [], null]);
    expect(far.body.count).toBeGreaterThan(0);
    const twice = await world.app.call('GET', '/activities?query=a&query=b', { token: world.tokens.admin });
    expect(twice.body.error).toBe('InvalidParameter');
  });

  it('ID-bad: accepts an id in its plain form alone', async () => {
    const id = world.ids['web']!;
    const requested = (text: string) =>
      world.app.call('GET', `/computers/activities?computer_ids=${text}`, { token: world.tokens.admin });
    expect((await requested(`${id}`)).status).toBe(200);
    const forms = [`0x${id.toString(16)}`, `0b${id.toString(2)}`, `${id}e0`, `${id}.0`, `%20${id}`, `%2B${id}`];
    for (const text of ['1e400', 'Infinity', '9'.repeat(320), ...forms]) {
      const { body } = await requested(`${id},${text}`);
      const details = [{ path: 'query.computer_ids.1', message: 'must be an integer' }];
      expect(body, text).toMatchObject({ error: 'InvalidParameter', code: 400, details });
    }
  });
});
