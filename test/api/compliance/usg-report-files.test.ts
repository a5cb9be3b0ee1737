import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { aRule, usgReportRequests } from '../../support/compliance/usg.ts';

let world: FleetWorld;
const { call, create, run, blob, made, csv } = usgReportRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

describe('CSV-formula', () => {
  const NASTY = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    '=a,"b"\r\nc',
    'plain, "quoted"\nnext',
    "it's",
    'é漢😀',
    '',
  ];

  it('returns names and rules as they were, with an apostrophe where a spreadsheet would compute', async () => {
    const id = await create();
    const computer = world.ids['web']!;
    const rules = NASTY.map((text, n) =>
      aRule(text, {
        severity: 'low',
        identifiers: [text],
        description: text || 'none',
        rationale: text,
        title: String(n),
      }),
    );
    await run(id, '2026-05-04T02:00:00Z', { rules, computers: new Map([[computer, 'p'.repeat(NASTY.length)]]) });
    const records = (await csv(await made(id, 'start_date=2026-05-04&detailed=true'))).slice(1);
    expect(records).toHaveLength(NASTY.length);
    const isFormula = (text: string) => /^[=+\-@\t\r\n＝＋－＠]/.test(text);
    for (const [place, text] of NASTY.entries()) {
      const shown = isFormula(text) ? `'${text}` : text;
      expect(records[place]!.slice(2, 7)).toEqual([shown, 'low', shown, shown || 'none', shown]);
    }
    for (const text of NASTY.filter(Boolean)) {
      await world.db.query('update computer set title = $2 where id = $1', [computer, text]);
      await world.db.query(`update usg_run set changed_at = changed_at + interval '1 second' where profile_id = $1`, [
        id,
      ]);
      const path = await made(id, 'start_date=2026-05-04');
      expect((await csv(path))[1]![1]).toBe(isFormula(text) ? `'${text}` : text);
      const raw = (await blob(path, undefined, { accept: 'text/csv' })).text;
      for (const cell of raw.split('\r\n').slice(1)) expect(cell).not.toMatch(/,[=+\-@\t]/);
    }
    await world.db.query(`update computer set title = 'web' where id = $1`, [computer]);
  });
});

describe('GET /usg-profiles/blob', () => {
  const XML = '<?xml version="1.0" encoding="UTF-8"?>\n<Benchmark id="b">é漢😀"\\</Benchmark>';

  it('reads a tailoring file and a report as JSON or as bare text', async () => {
    const id = await create({ tailoring_file: XML, benchmark: undefined });
    const { tailoring_file_uri: uri } = (await call('GET', `/usg-profiles/${id}`)).body;
    expect(uri).toMatch(new RegExp(`^usg_profile_tailoring_file_ID${id}_\\d{14}$`));
    const json = await blob(uri);
    expect(json.body).toEqual({ file_content: XML });
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await blob(uri, undefined, { accept: 'text/csv' });
    expect(text.text).toBe(XML);
    expect(text.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    for (const accept of ['*/*', 'application/json, text/csv', 'text/html']) {
      expect((await blob(uri, undefined, { accept })).body).toEqual({ file_content: XML });
    }
    await call('POST', `/usg-profiles/${id}:archive`);
    expect((await blob(uri)).status).toBe(200);
  });

  it('reads a long report whole', async () => {
    const id = await create();
    const rules = Array.from({ length: 300 }, (_, n) => aRule(`rule_${n}`, { description: 'é漢😀'.repeat(40) }));
    const computers = new Map([world.ids['web']!, world.ids['db']!].map((computer) => [computer, 'p'.repeat(300)]));
    await run(id, '2026-05-04T02:00:00Z', { rules, computers });
    const path = await made(id, 'start_date=2026-05-04&detailed=true');
    expect(await csv(path)).toHaveLength(601);
    const pieces = await world.db.query(
      'select 1 from stored_file_chunk c join stored_file f on f.id = c.file_id where f.key = $1',
      [path],
    );
    expect(pieces.length).toBeGreaterThan(1);
  });
});

describe('PATH-blob', () => {
  it('finds stored paths of the own account and nothing else', async () => {
    const id = await create({ access_group: 'desktops' });
    await run(id, '2026-05-04T02:00:00Z');
    const path = await made(id, 'start_date=2026-05-04&detailed=true');
    for (const wrong of [
      `../${path}`,
      `./${path}`,
      `/${path}`,
      `${path}/`,
      ` ${path}`,
      `${path} `,
      path.toUpperCase(),
      path.replace('.csv', ''),
      path.replace('.csv', '%2ecsv'),
      encodeURIComponent(`../${path}`),
      encodeURIComponent(encodeURIComponent(`../${path}`)),
      `..\\${path}`,
      '../../etc/passwd',
      '/etc/passwd',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      '%252e%252e%252fetc%252fpasswd',
      '..\\..\\windows\\win.ini',
      'C:\\windows\\win.ini',
      'file:///etc/passwd',
      '/proc/self/environ',
      'package.json',
      '%',
      "' or ''='",
      'usg_profile_audit_report_ID2147483647-20260504.csv',
      'usg_profile_audit_report_ID99999999999999-20260504.csv',
      'usg_profile_audit_report_ID-1-20260504.csv',
      `usg_profile_audit_report_ID${id}-00000000.csv`,
      'in-progress',
      'null',
      'x'.repeat(4096),
    ]) {
      const { status, body } = await blob(wrong);
      expect([wrong, status, body.error]).toEqual([wrong, 404, 'NotFound']);
    }
    for (const wrong of [`${path}%00`, '%00', 'a%00b', 'x'.repeat(5000)]) {
      const { status, body } = await call('GET', `/usg-profiles/blob?path=${wrong}`);
      expect([wrong, status, body.error]).toEqual([wrong, 404, 'NotFound']);
    }
    expect((await call('GET', '/usg-profiles/blob')).status).toBe(400);
    expect((await call('GET', '/usg-profiles/blob?path=')).status).toBe(400);
    const last = `usg_profile_audit_report_ID${id}-20260504.csv`;
    for (const other of [path, last]) {
      expect((await blob(other)).status).toBe(200);
      expect((await blob(other, world.tokens.auditor)).status).toBe(200);
      expect((await blob(other, world.tokens.foreign)).status).toBe(404);
      expect((await blob(other, world.tokens.servers)).status).toBe(404);
    }
    await call('POST', `/usg-profiles/${id}:archive`);
    for (const own of [path, last]) expect((await blob(own)).status).toBe(200);
    expect((await call('GET', `/security-profiles/blob?path=${path}`)).headers.get('deprecation')).toMatch(/^@/);
  });
});
