import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { createUsgWorld, usgProfile } from '../../support/compliance/usg.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { processorMs } from '../../support/common/process.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const XMLNS = 'xmlns:xccdf="http://checklists.nist.gov/xccdf/1.2"';
const TAILORING = `<?xml version="1.0" encoding="UTF-8"?>
<xccdf:Tailoring ${XMLNS} id="t"><xccdf:Profile id="p"><xccdf:title>Ünser</xccdf:title></xccdf:Profile></xccdf:Tailoring>`;
const post = (tailoring_file: string, over: object = {}) =>
  world.app.call('POST', '/usg-profiles', {
    token: world.tokens.admin,
    body: usgProfile({ benchmark: undefined, tailoring_file, ...over }),
  });

async function expectRejected(xml: string): Promise<void> {
  let response: Awaited<ReturnType<typeof post>> | undefined;
  expect(
    await processorMs(async () => {
      response = await post(xml);
    }),
  ).toBeLessThan(2_000);
  const { body } = response!;
  expect(body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path: 'body.tailoring_file' }] });
  const [row] = await world.db.query(
    'select (select count(*) from stored_file) as files, (select count(*) from usg_profile) as profiles',
  );
  expect(row).toEqual({ files: 0, profiles: 0 });
}

const entities = (count: number) =>
  Array.from({ length: count }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');
const root = (content: string) => `<Tailoring>${content}</Tailoring>`;

describe('tailoring_file', () => {
  it.each([
    ['nested entities', `<!DOCTYPE t [<!ENTITY e0 "ha">${entities(10)}]>${root('&e10;')}`],
    ['one long entity', `<!DOCTYPE t [<!ENTITY a "${'a'.repeat(50_000)}">]>${root('&a;'.repeat(50_000))}`],
    ['several document types', `<!DOCTYPE a><!doctype b>${root('')}`],
    ['an entity alone', root('<!ENTITY a "b">')],
    ['spaces in the declaration', `<! DOCTYPE t>${root('')}`],
  ])('XML-bomb: %s', (_, xml) => expectRejected(xml));

  it('XML-bomb: a million numeric references', async () => {
    await expectRejected(root('&#65;'.repeat(250_000)));
    expect((await post(root('&#65;'.repeat(1_000_000)))).body).toMatchObject({ error: 'PayloadTooLarge', code: 413 });
  });

  it('XXE: opens neither a file nor a connection', async () => {
    let requested = 0;
    const listener = createServer((_, res) => {
      requested += 1;
      res.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/x`;
    for (const xml of [
      `<!DOCTYPE t [<!ENTITY f SYSTEM "file:///etc/passwd">]>${root('&f;')}`,
      `<!DOCTYPE t [<!ENTITY f SYSTEM "${url}">]>${root('&f;')}`,
      `<!DOCTYPE t [<!ENTITY % p SYSTEM "${url}"> %p;]>${root('')}`,
      `<!DOCTYPE t SYSTEM "${url}">${root('')}`,
      `<?xml-stylesheet type="text/xsl" href="${url}"?>${root('')}`,
      root(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${url}"/>`),
      root(`<x:import xmlns:x="http://www.w3.org/1999/XSL/Transform" href="${url}"/>`),
      `<?xml version="1.0" encoding="UTF-7"?>${root('+ADw-!DOCTYPE t+AD4-')}`,
    ]) {
      await expectRejected(xml);
    }
    expect(requested).toBe(0);
    listener.close();
  });

  it.each([
    ['empty', ''],
    ['text', 'not XML'],
    ['JSON', '{"a": 1}'],
    ['unclosed', '<Tailoring><a></Tailoring>'],
    ['cut off', TAILORING.slice(0, -10)],
    ['two roots', '<Tailoring/><Tailoring/>'],
    ['an unknown entity', root('&nbsp;')],
    ['an unbound prefix', '<x:Tailoring/>'],
    ['a repeated attribute', '<Tailoring id="1" id="2"/>'],
    ['101 attributes', `<Tailoring ${Array.from({ length: 101 }, (_, n) => `a${n}=""`).join(' ')}/>`],
    ['a control character', root('\u0001')],
    ['100,000 levels', root('<a>'.repeat(100_000) + '</a>'.repeat(100_000))],
    ['too large', root('x'.repeat(1024 * 1024))],
  ])('XML-wrong: %s', (_, xml) => expectRejected(xml));

  it.each(['\ud800', '\0'])('XML-wrong: %j is no character', async (character) => {
    expect((await post(root(character))).body).toMatchObject({ error: 'InvalidJson', code: 400 });
  });

  it('XML-wrong: 50 MB are not even read', async () => {
    const response = await post(root('x'.repeat(50 * 1024 * 1024)));
    expect(response.body).toMatchObject({ error: 'PayloadTooLarge', code: 413 });
  });

  it('is kept, named, and sent in place of the benchmark', async () => {
    const { status, body } = await post(TAILORING, { start_date: '2026-11-01', title: 'Tailored' });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({
      benchmark: 'custom',
      tailoring_file_uri: `usg_profile_tailoring_file_ID${body.id}_20261121120000`,
    });
    const [payload] = await world.db.query(
      `select fields from operation_payload where message_type = 'usg' order by id desc limit 1`,
    );
    expect(payload!['fields']).toMatchObject({ 'tailoring-file': [`usg-tailoring-${body.id}.xml`, TAILORING] });
    expect(payload!['fields']).not.toHaveProperty('profile');
    const { body: again } = await world.app.call('GET', `/usg-profiles/${body.id}`, { token: world.tokens.admin });
    expect(again.tailoring_file_uri).toBe(body.tailoring_file_uri);
    await world.db.query('update activity set open_count = 0 where parent_id is null');
    await world.app.call('POST', `/usg-profiles/${body.id}:execute`, { token: world.tokens.admin });
    const sent = await world.db.query(
      `select fields->'tailoring-file'->>1 as content from operation_payload where message_type = 'usg'`,
    );
    expect(sent).toEqual([{ content: TAILORING }, { content: TAILORING }]);
  });

  it.each(['our own', ' cis_level9 ', 'two\nlines', 'x'.repeat(256), '\u0001', 'of\u2028our own'])(
    'leaves a benchmark unchecked that is given beside it: %j',
    async (benchmark) => {
      const { status, body } = await post(TAILORING, { benchmark });
      expect({ status, benchmark: body.benchmark }).toEqual({ status: 201, benchmark });
      const events = await world.db.query(
        `select message from event where entity_type = 'UsgProfile' and entity_id = $1`,
        [body.id],
      );
      expect(events).toEqual([{ message: 'Created the USG profile Monthly baseline: audit by its tailoring file' }]);
    },
  );

  it('may have any root, as other tools write theirs', async () => {
    expect((await post('<ds:data-stream xmlns:ds="urn:x"><a/></ds:data-stream>')).status).toBe(201);
  });

  it.each(['', '  \n', null])('takes the benchmark %j beside it for none', async (benchmark) => {
    expect((await post(TAILORING, { benchmark })).body.benchmark).toBe('custom');
  });

  it('is read on the connection that its run has already', async () => {
    const { persistence, drop } = await createTestDatabase({ poolSize: 1 });
    try {
      const usg = await createUsgWorld(persistence.db, world.clock);
      const at = { startDate: '2090-01-01', tailoringFile: TAILORING, benchmark: null };
      const ids = [await usg.create(at), await usg.create(at), await usg.create(at)];
      const runs = await Promise.all(
        ids.map((id) => usg.profiles.execute(usg.caller, id, { after: null, traceparent: null })),
      );
      expect(runs.map(({ type }) => type)).toEqual(ids.map(() => 'UsgActivity'));
    } finally {
      await drop();
    }
  });
});
