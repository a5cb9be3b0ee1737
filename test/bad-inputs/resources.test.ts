import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { constants, createDeflateRaw } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encode } from '../../src/protocol/bpickle.ts';
import { createAdmin, createTestApp } from '../support/app.ts';
import { insertComputer } from '../support/computers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { RawAgent } from '../support/gateway-world.ts';
import { GuardedServer } from '../support/resource-guard.ts';
import { scriptProfile } from '../support/scripts.ts';
import { usgProfile } from '../support/usg-profiles.ts';

/** What attacks cost a server, measured in its own process while an honest client goes on. @see perf-reliability B2, 9 */
let database: TestDatabase;
let server: GuardedServer;
let token: string;
let computerId: number;
const MIB = 1024 * 1024;

beforeAll(async () => {
  database = await createTestDatabase();
  const { accountId } = await createAdmin(database.persistence);
  computerId = await insertComputer(database.persistence.db, { accountId, title: 'web' });
  await fillFleet(accountId);
  const app = await createTestApp(database.persistence);
  token = await app.login();
  await app.close();
  server = await GuardedServer.start(database.url, token);
});

afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

/** Enough computers that a page without a bound would be seen. */
async function fillFleet(accountId: number): Promise<void> {
  await database.persistence.db.query(
    `insert into computer (account_id, access_group_id, state, title, hostname, tags, registered_at)
     select $1, (select id from access_group where account_id = $1 and name = 'global'), 'approved',
       'many-' || n, 'many-' || n || '.example.com', array['many'], now() from generate_series(1, 3000) n`,
    [accountId],
  );
  await database.persistence.db.query('analyze');
}

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = await fetch(
    `${server.url}${path.startsWith('/api') || path.startsWith('/m') ? '' : '/api/v2'}${path}`,
    {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: raw as RequestInit['body'] }),
    },
  );
  return { status: answer.status, text: await answer.text() };
}

/** Does something several times, one after another; all must be answered with one of the statuses. */
async function times(
  count: number,
  statuses: readonly number[],
  once: () => Promise<{ status: number }>,
): Promise<void> {
  for (let i = 0; i < count; i++) expect(statuses).toContain((await once()).status);
}

describe('the guard', () => {
  it('notices quadratic work', async () => {
    await expect(server.expectHarmless(() => fetch(`${server.url}/planted/quadratic`))).rejects.toThrow(/blockedMs/);
  });

  it('notices memory', async () => {
    await expect(server.expectHarmless(() => fetch(`${server.url}/planted/memory`))).rejects.toThrow(/rssMb/);
  });

  it('lets honest work pass', async () => {
    await server.expectHarmless(() => times(10, [200], () => call('GET', '/features')));
  });
});

describe('tokens and logins', () => {
  it('JWT-types: 50 tokens of 64 kB cost less than 5 ms each', async () => {
    const long = `${'a'.repeat(20_000)}.${'b'.repeat(24_000)}.${'c'.repeat(20_000)}`;
    const attack = () => times(50, [401], () => call('GET', '/person', undefined, { authorization: `Bearer ${long}` }));
    await server.expectHarmless(attack, { cpuMs: 250 });
  });

  it('JWT-types: 100 tokens with claims out of shape cost less than 5 ms each', async () => {
    const parts = token.split('.');
    const claims = Buffer.from(`{"sub":${'['.repeat(2500)}${']'.repeat(2500)},"exp":1e400}`).toString('base64url');
    const bad = `${parts[0]}.${claims}.${parts[2]}`;
    const attack = () => times(100, [401], () => call('GET', '/person', undefined, { authorization: `Bearer ${bad}` }));
    await server.expectHarmless(attack, { cpuMs: 500 });
  });

  it('LOGIN-long: 20 passwords of 1 MB are refused without any work on them', async () => {
    const body = JSON.stringify({ email: 'admin@fleet.example', password: 'x'.repeat(MIB) });
    await server.expectHarmless(() => times(20, [400], () => call('POST', '/login', body)));
  });

  it('LOGIN-storm: 500 at once take the memory of a few hashes, and the processor time of those that wait', async () => {
    const login = (n: number) => call('POST', '/login', { email: `storm${n}@fleet.example`, password: 'wrong' });
    const attack = async () => {
      const answers = await Promise.all(Array.from({ length: 500 }, (_, n) => login(n)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 503]));
    };
    // Hashes are worked off in threads of their own, 15 to 30 ms each; what is bounded is how many of them there are.
    await server.expectHarmless(attack, { cpuMs: 10_000, rssMb: 150 });
  });
});

describe('queries and pages', () => {
  it('QUERY-deep: long queries are refused at once', async () => {
    const texts = ['NOT '.repeat(100_000), 'a OR '.repeat(200_000), '('.repeat(500_000), 'x'.repeat(MIB)];
    const attack = async () => {
      for (const search of texts) {
        await times(3, [400], () => call('POST', '/saved-searches', { name: 'deep', title: 'Deep', search }));
        await times(3, [400, 431], () =>
          call('GET', `/computers?query=${search.replaceAll(' ', '+').slice(0, 60_000)}`),
        );
      }
    };
    await server.expectHarmless(attack);
  });

  it('QUERY-redos: crafted queries below the limits take no more than others', async () => {
    const texts = ['"'.repeat(4000), ' '.repeat(4000), `${'a'.repeat(7000)}!`, 'tag:'.repeat(1500), '\\"'.repeat(2000)];
    const attack = async () => {
      for (const text of texts) {
        await times(5, [200, 400], () => call('GET', `/computers?limit=1&query=${encodeURIComponent(text)}`));
      }
    };
    await server.expectHarmless(attack);
  });

  it('PAGE-bad: no page is larger than the largest', async () => {
    const attack = async () => {
      await times(2, [200, 400], () => call('GET', '/computers?limit=1000000000'));
      await times(2, [200, 400], () => call('GET', '/computers?limit=1000&offset=9007199254740991'));
      await times(2, [400], () => call('GET', '/computers?limit=1000000000000000000000&offset=-1'));
    };
    await server.expectHarmless(attack);
  });
});

describe('bodies', () => {
  it('BODY-big: neither 100 MB nor an endless body are taken in', async () => {
    const attack = async () => {
      const length = { 'content-length': String(100 * MIB) };
      for (const headers of [length, {}]) expect(await pour('/api/v2/login', headers, 100 * MIB)).toBe(413);
    };
    await server.expectHarmless(attack);
  });

  it('BODY-big: what says less than it brings, or more, is no request', async () => {
    const attack = async () => {
      for (const length of [5, 500]) {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
        socket.end(
          `POST /api/v2/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"email":"a@b"}${'x'.repeat(50)}`,
        );
        const chunks: Buffer[] = [];
        socket.on('data', (chunk) => chunks.push(chunk));
        await once(socket, 'close');
        expect(Buffer.concat(chunks).toString()).not.toMatch(/HTTP\/1\.1 (200|5)/);
      }
    };
    await server.expectHarmless(attack);
  });

  it('BODY-big: 10 MB that unpack to 10 GB are unpacked as far as the limit', async () => {
    const bomb = await gzipBomb();
    expect(bomb.length).toBeGreaterThan(9 * MIB);
    const attack = async () => {
      const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
      expect(await pour('/api/v2/login', { ...headers, 'content-length': String(bomb.length) }, bomb)).toBe(413);
    };
    await server.expectHarmless(attack, { rssMb: 20 });
  });

  it('BODY-deep: 100,000 levels are refused by their depth', async () => {
    const body = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    await server.expectHarmless(() => times(20, [400], () => call('POST', '/login', body)));
  });

  it('SIGNAL-bad: a million process ids', async () => {
    const lists = [Array(1_000_000).fill(1), Array(200_000).fill(1)];
    const attack = async () => {
      for (const pids of lists) {
        const body = JSON.stringify({ computer_id: computerId, pids });
        await times(2, [400, 413], () => call('POST', '/processes/kill', body));
      }
    };
    await server.expectHarmless(attack);
  });
});

describe('documents and schedules', () => {
  const post = (over: object) => call('POST', '/usg-profiles', usgProfile(over));
  const file = (tailoring_file: string) => post({ benchmark: undefined, tailoring_file });
  const root = (content: string) => `<Tailoring>${content}</Tailoring>`;
  const entities = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');

  it.each([
    ['XML-bomb: nested entities', `<!DOCTYPE t [<!ENTITY e0 "ha">${entities}]>${root('&e10;')}`],
    ['XML-bomb: one long entity', `<!DOCTYPE t [<!ENTITY a "${'a'.repeat(50_000)}">]>${root('&a;'.repeat(50_000))}`],
    ['XML-bomb: as many numeric references as a file may have', root('&#65;'.repeat(200_000))],
    ['XXE: a file', `<!DOCTYPE t [<!ENTITY f SYSTEM "file:///dev/zero">]>${root('&f;')}`],
    ['XML-wrong: 100,000 levels', root('<a>'.repeat(100_000) + '</a>'.repeat(100_000))],
    ['XML-wrong: 50 MB', root('x'.repeat(50 * MIB))],
    [
      'XML-wrong: attributes without end',
      `<Tailoring ${Array.from({ length: 60_000 }, (_, n) => `a${n}=""`).join(' ')}/>`,
    ],
  ])('%s', async (_, xml) => {
    await server.expectHarmless(() => times(2, [201, 400, 409, 413], () => file(xml)));
  });

  it('RRULE-bad: rules whose dates are far or many', async () => {
    const rules = [
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
      'FREQ=SECONDLY;COUNT=1000000000',
      'FREQ=WEEKLY;COUNT=1000000000',
      'FREQ=WEEKLY;INTERVAL=0',
      'FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5;BYSETPOS=366',
      `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, n) => n + 1).join(',')}`,
    ];
    const attack = async () => {
      for (const schedule of rules)
        await times(2, [201, 400, 409], () => post({ schedule, title: schedule.slice(0, 60) }));
    };
    await attack();
    await server.expectHarmless(attack);
  });

  it('CRON-bad: times that never come or always do', async () => {
    const intervals = [
      '0 0 31 2 *',
      '0 0 30 2 *',
      '* * * * *',
      '*/0 * * * *',
      '0-59/1 0-23 1-31 1-12 0-7',
      '0 0 29 2 1',
    ];
    const attack = async () => {
      for (const interval of intervals) {
        const trigger = { trigger_type: 'recurring', start_after: '2026-11-20T00:00:00Z', interval };
        await times(3, [400, 404], () => call('POST', '/script-profiles', scriptProfile(1, { trigger })));
      }
    };
    await server.expectHarmless(attack);
  });
});

describe('agents', () => {
  it('AGENT-poison: bodies that unpack into more than they are', async () => {
    const nested = Buffer.from(`du8:messages${'l'.repeat(100_000)}${';'.repeat(100_000)};`);
    const bodies = [
      nested,
      Buffer.from('du8:messageslu2147483648:x;;'),
      Buffer.from(`du8:messagesli${'9'.repeat(1_000_000)};;;`),
      Buffer.from(`du8:messages${'ln;'.repeat(1)}`),
      Buffer.alloc(8 * MIB, 0x6c),
    ];
    const attack = async () => {
      for (const body of bodies) {
        const headers = { 'content-type': 'application/octet-stream' };
        await times(3, [400], () => call('POST', '/message-system', body, headers));
      }
    };
    await server.expectHarmless(attack);
  });

  it('AGENT-poison: 30 MB of messages of wrong fields are taken once and quarantined', async () => {
    const agent = await RawAgent.enrol({ url: server.url }, { name: 'standalone' });
    await agent.exchange();
    const wrong = Array.from({ length: 100 }, () => ({
      type: 'computer-info',
      hostname: 7,
      annotations: 'x'.repeat(300_000),
    }));
    const attack = async () => expect((await agent.exchange(wrong)).nextExpected).toBe(100);
    // The body itself, what it is collected from, and its texts.
    await server.expectHarmless(attack, { rssMb: 200, blockedMs: 250 });
  });

  it('AGENT-flood: one agent without end is refused, and nobody else', async () => {
    const flooding = await RawAgent.enrol({ url: server.url }, { name: 'standalone' });
    const other = await RawAgent.enrol({ url: server.url }, { name: 'standalone' });
    const body = encode(flooding.payload(Array.from({ length: 400 }, () => ({ type: 'computer-tags', tags: 'x' }))));
    const headers = { 'content-type': 'application/octet-stream', 'x-computer-id': flooding.secureId };
    const statuses = new Map<number, number>();
    const attack = async () => {
      for (let i = 0; i < 10; i++) {
        const answers = await Promise.all(
          Array.from({ length: 25 }, () => call('POST', '/message-system', body, headers)),
        );
        for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect((await other.exchange()).status).toBe(200);
    };
    await server.expectHarmless(attack);
    expect(statuses.get(429)).toBeGreaterThan(50);
    expect([...statuses.keys()].toSorted()).toEqual([200, 429]);
  });
});

/** Sends a body until the server has answered; answers the status. */
function pour(path: string, headers: Record<string, string>, body: Buffer | number): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const out = request(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    out.on('response', (response) => {
      status = response.statusCode ?? 0;
      response.resume();
    });
    out.on('error', (error) => (status ? undefined : reject(error)));
    out.on('close', () => resolve(status));
    const chunk = Buffer.isBuffer(body) ? body : Buffer.alloc(64 * 1024, 0x20);
    let left = Buffer.isBuffer(body) ? 1 : body / chunk.length;
    const more = (): void => {
      while (left-- > 0 && !out.destroyed) if (!out.write(chunk)) return void out.once('drain', more);
      if (!out.destroyed) out.end();
    };
    more();
  });
}

/** 10 GB of spaces: one compressed part of them again and again. */
async function gzipBomb(): Promise<Buffer> {
  const part = Buffer.alloc(10 * MIB, 0x20);
  const deflate = createDeflateRaw({ finishFlush: constants.Z_FULL_FLUSH });
  const chunks: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
  deflate.end(part);
  await once(deflate, 'end');
  const packed = Buffer.concat(chunks);
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  return Buffer.concat([header, ...Array.from({ length: Math.ceil((10 * MIB) / packed.length) }, () => packed)]);
}
