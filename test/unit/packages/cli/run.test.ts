import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../../../../tools/stack/processes/ports.ts';
import {
  type Answer,
  errorBody,
  page,
  type Received,
  runInProcess,
  startStandIn,
} from '../../../support/cli/in-process.ts';

const computer = (id: number) => ({ id, title: `computer-${id}`, tags: [] });
const activity = (status: string, children: string[] = []) => ({
  id: 17,
  type: 'ActivityGroup',
  summary: 'Install snaps on computer',
  creation_time: '2026-05-04T09:12:40Z',
  activity_status: status,
  result_text: null,
  children: children.map((child, i) => ({
    id: 18 + i,
    computer_id: i + 1,
    computer_title: `computer-${i + 1}`,
    activity_status: child,
    result_text: child === 'failed' ? 'no space left\nmore' : null,
  })),
});

/** A server with the computers, whose action ends with the status. */
function serverWith(ids: number[], status: string, children: string[] = []) {
  return ({ method, path }: Received): Answer | undefined => {
    if (path.startsWith('/computers?')) return page(ids.map(computer));
    if (method === 'POST' && path === '/snaps') return [200, activity('undelivered')];
    if (path.startsWith('/activities/17?')) return [200, activity(status, children)];
    return undefined;
  };
}

const INSTALL = ['snaps', 'install', 'hello', '-q', 'tag:web'];

describe('exit codes', () => {
  it.each([
    ['succeeded', 0],
    ['failed', 1],
    ['canceled', 5],
    ['unapproved', 6],
  ])('%s is %i', async (status, code) => {
    const { env } = await startStandIn(serverWith([1], status, [status]));
    expect((await runInProcess([...INSTALL, '--wait'], env)).code).toBe(code);
  });

  it('4: the time is up, and how to continue', async () => {
    const { env } = await startStandIn(serverWith([1], 'delivered', ['delivered']));
    const ended = await runInProcess([...INSTALL, '--timeout', '1s'], env);
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining('flotilla activities watch 17') });
  });

  it('3: the server refuses, with the field', async () => {
    const details = [{ path: 'body.snaps[0].name', message: 'must be the name of a snap' }];
    const { env } = await startStandIn(({ method }) =>
      method === 'POST'
        ? [400, errorBody('InvalidParameter', 'The request is wrong', 400, details)]
        : page([computer(1)]),
    );
    const ended = await runInProcess(INSTALL, env);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('The request is wrong\n  body.snaps[0].name: must be the name of a snap');
  });

  it('3: the token has expired, and what to do', async () => {
    const { env, url } = await startStandIn(() => [401, errorBody('Unauthorized', 'The token has expired', 401)]);
    const ended = await runInProcess(['computers', 'list'], env);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining(`flotilla login ${url}`) });
  });

  it('3: nothing listens at the address, which is named', async () => {
    const url = `http://127.0.0.1:${(await findFreePorts(1))[0]}`;
    const ended = await runInProcess(['api', 'POST', '/logout'], { FLOTILLA_URL: url, FLOTILLA_TOKEN: 'a-token' });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain(`Cannot reach ${url}: nothing listens there. Is the server running?`);
  });

  it.each([
    [['computers', 'lst'], 'Did you mean list?'],
    [['nonsense'], "unknown command 'nonsense'"],
    [['computers', 'list', '--nonsense'], "unknown option '--nonsense'"],
    [['computers', 'show', 'web'], 'is not an id'],
    [['computers', 'list', '-o', 'xml'], 'Allowed choices are table, json, ndjson, csv'],
    [['computers', 'restart'], '-q QUERY, --id ID,ID or --all'],
    [['computers', 'restart', '--id', '1', '-q', 'web'], '-q QUERY, --id ID,ID or --all'],
    [['computers', 'restart', '-q', ' '], 'The query is empty'],
    [['api', 'POST', '/snaps', '--data', '{'], 'The body is not JSON'],
    [['scripts', 'add', '/nonexistent/script.sh'], 'Cannot read /nonexistent/script.sh: ENOENT'],
    [['activities', 'cancel'], 'by their ids or by -q QUERY'],
  ])('2: wrong usage %j', async (args, message) => {
    const env = { FLOTILLA_URL: 'http://127.0.0.1:9', FLOTILLA_TOKEN: 'a-token' };
    const ended = await runInProcess(args, env);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  it.each([[['--help']], [['help']], [['computers', '--help']], [['help', 'snaps']], [['snaps', 'install', '--help']]])(
    '0: %j, which needs no server',
    async (args) => {
      const ended = await runInProcess(args);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/^Usage: flotilla/);
      expect(ended.stdout).toContain('--output');
    },
  );
});

describe('an action', () => {
  it('on several computers is refused without a terminal, and nothing is sent', async () => {
    const { env, received } = await startStandIn(serverWith([1, 2, 3, 4], 'succeeded'));
    const ended = await runInProcess(INSTALL, env);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('Install hello: 4 computers (computer-1, computer-2, computer-3 and 1 more)');
    expect(ended.stderr).toContain('--yes');
    expect(received.map(({ method }) => method)).toEqual(['GET']);
  });

  it('goes to exactly the computers that were counted', async () => {
    const { env, received } = await startStandIn(serverWith([3, 4], 'succeeded'));
    const ended = await runInProcess([...INSTALL, '--yes', '-o', 'json'], env);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('2 computers (computer-3, computer-4)');
    expect(JSON.parse(ended.stdout)).toMatchObject([{ id: 17, activity_status: 'undelivered' }]);
    const [, sent] = received;
    expect(sent).toMatchObject({
      method: 'POST',
      path: '/snaps',
      body: { action: 'install', computer_ids: [3, 4], snaps: [{ name: 'hello' }] },
      authorization: 'Bearer a-token',
    });
  });

  it('by a query of its own call names the counted ids, no more than a query may have', async () => {
    const ids = Array.from({ length: 450 }, (_, i) => i + 1);
    const { env, received } = await startStandIn(({ method }) =>
      method === 'POST' ? [200, []] : page(ids.map(computer)),
    );
    const ended = await runInProcess(['computers', 'tag', 'lab', '-q', 'web', '--yes', '-o', 'ndjson'], env);
    expect(ended.code).toBe(0);
    expect(ended.stdout.trim().split('\n')).toHaveLength(450);
    const queries = received.slice(1).map(({ body }) => (body as { query: string }).query.split(' OR '));
    expect(queries.map(({ length }) => length)).toEqual([200, 200, 50]);
    expect(queries.flat()).toEqual(ids.map((id) => `id:${id}`));
  });

  it('is not sent when one of the ids is unknown', async () => {
    const { env, received } = await startStandIn(serverWith([3], 'succeeded'));
    const ended = await runInProcess(['computers', 'restart', '--id', '3,4', '--yes'], env);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('id 4') });
    expect(received.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('on no computer does nothing', async () => {
    const { env, received } = await startStandIn(serverWith([], 'succeeded'));
    const ended = await runInProcess([...INSTALL, '-o', 'json'], env);
    expect(ended).toMatchObject({ code: 0, stdout: '[]\n', stderr: expect.stringContaining('No computer matches') });
    expect(received).toHaveLength(1);
  });

  it('shows what was accepted before one of its requests failed', async () => {
    const { env } = await startStandIn(({ path }) => {
      if (path === '/computers/1/restart') return [200, activity('undelivered')];
      if (path === '/computers/2/restart') return [403, errorBody('Forbidden', 'The role is missing', 403)];
      return page([computer(1), computer(2)]);
    });
    const ended = await runInProcess(['computers', 'restart', '-q', 'web', '--yes', '-o', 'json'], env);
    expect(ended.code).toBe(3);
    expect(JSON.parse(ended.stdout)).toMatchObject([{ id: 17 }]);
    expect(ended.stderr).toContain('1 of the requests were accepted before this error');
  });

  it.each([
    ['computers', 'restart'],
    ['scripts', 'run', '4'],
    ['kernel', 'upgrade'],
  ])('%s %s lists on Ctrl-C what was accepted, and sends no more', async (...command) => {
    const ids = Array.from({ length: 450 }, (_, i) => i + 1);
    const { env, received } = await startStandIn(({ method, path }) => {
      if (path.includes('hotpatch')) return [200, { upgrades: [{ id: 5, version: '6' }], downgrades: [] }];
      if (method !== 'POST') return page(ids.map(computer));
      if (received.filter((request) => request.method === 'POST').length === 2) process.emit('SIGINT');
      return [200, activity('undelivered')];
    });
    const ended = await runInProcess([...command, '-q', 'web', '--yes', '--wait', '-o', 'json'], env);
    expect(ended.code).toBe(4);
    expect(JSON.parse(ended.stdout)).toMatchObject([{ id: 17 }, { id: 17 }]);
    expect(ended.stderr).toContain('Interrupted: 2 of the requests were accepted, and no others were sent.\n');
    expect(ended.stderr).toContain('flotilla activities watch 17 17');
    expect(received.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('that is interrupted before its first request does nothing', async () => {
    const { env, received } = await startStandIn(({ path }) => {
      if (!path.includes('hotpatch')) return page([computer(1), computer(2)]);
      process.emit('SIGINT');
      return [200, { upgrades: [{ id: 5, version: '6' }], downgrades: [] }];
    });
    const ended = await runInProcess(['kernel', 'upgrade', '-q', 'web', '--yes'], env);
    expect(ended).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('Nothing was done') });
    expect(received.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('that starts an activity for each computer waits for all of them, and fails if one does', async () => {
    const ids = Array.from({ length: 30 }, (_, i) => i + 1);
    const { env } = await startStandIn(({ method, path }) => {
      const id = Number(/\/(?:computers|activities)\/(\d+)/.exec(path)?.[1]);
      if (method === 'POST') return [200, { ...activity('undelivered'), id: 100 + id }];
      if (path.startsWith('/activities/')) {
        return [200, { ...activity(id === 107 ? 'failed' : 'succeeded', ['succeeded']), id }];
      }
      return page(ids.map(computer));
    });
    const ended = await runInProcess(['computers', 'restart', '--all', '--yes', '--wait', '-o', 'json'], env);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('30 of 30 ended: 30 succeeded\n');
    const shown = JSON.parse(ended.stdout) as Array<{ id: number }>;
    expect(shown.map(({ id }) => id)).toEqual(ids.map((id) => 100 + id));
  });

  it('is waited for while the server is away, but not when the token has ended', async () => {
    let looks = 0;
    // The client does not repeat a request after a pause as long as this.
    const away = [503, errorBody('ServiceUnavailable', 'The server stops', 503), { 'retry-after': '60' }] as const;
    const answer = serverWith([1], 'succeeded', ['succeeded']);
    const { env } = await startStandIn((request) => {
      if (!request.path.startsWith('/activities/17?')) return answer(request);
      looks += 1;
      return looks > 1 ? answer(request) : away;
    });
    const ended = await runInProcess([...INSTALL, '--wait'], env);
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 of 1 ended: 1 succeeded'),
    });
    const expired = await startStandIn((request) =>
      request.path.startsWith('/activities/17?') ? [401, errorBody('Unauthorized', 'Expired', 401)] : answer(request),
    );
    const failed = await runInProcess([...INSTALL, '--wait', '-o', 'json'], expired.env);
    expect(failed).toMatchObject({ code: 3, stderr: expect.stringContaining('flotilla activities watch 17') });
    expect(JSON.parse(failed.stdout)).toMatchObject([{ id: 17 }]);
  });

  it('reports how its operations ended, in lines where there is no terminal', async () => {
    const children = ['succeeded', 'failed', 'succeeded'];
    const { env } = await startStandIn(serverWith([1, 2, 3], 'failed', children));
    const ended = await runInProcess([...INSTALL, '--yes', '--wait'], env);
    expect(ended.stderr).toContain('3 of 3 ended: 2 succeeded, 1 failed\n');
    expect(ended.stdout).toMatch(/17 {2}failed .*\n/);
    expect(ended.stdout).toMatch(/19 .*computer-2 {2}failed {2}no space left\n/);
    expect(ended.stdout).not.toContain('computer-1');
  });
});

describe('output', () => {
  const HOSTILE = 'evil\u001b]0;owned\u0007\u009b31m\u202e';
  const list = () =>
    startStandIn(() => page([{ ...computer(3), title: HOSTILE, distribution: '=cmd()', tags: ['a', 'b'] }]));

  it('of tables shows no control characters', async () => {
    const { stdout } = await runInProcess(['computers', 'list'], (await list()).env);
    expect(stdout).toContain('evil\\u001b]0;owned\\u0007\\u009b31m\\u202e');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('of JSON and NDJSON has the whole rows', async () => {
    const { env } = await list();
    const json = await runInProcess(['-o', 'json', 'computers', 'list'], env);
    expect(JSON.parse(json.stdout)).toMatchObject([{ id: 3, title: HOSTILE, tags: ['a', 'b'] }]);
    const ndjson = await runInProcess(['computers', 'list', '-o', 'ndjson'], env);
    expect(ndjson.stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(ndjson.stdout)).toMatchObject({ id: 3, title: HOSTILE });
    expect(ndjson.stderr).toBe('');
  });

  it('of CSV has a header and no formulas', async () => {
    const { stdout } = await runInProcess(['computers', 'list', '-o', 'csv'], (await list()).env);
    const [head, row] = stdout.split('\n');
    expect(head).toBe('id,title,release,group,tags,reboot,last_ping');
    expect(row).toContain(`${HOSTILE},'=cmd()`);
    expect(row).toContain('"a,b"');
  });

  it('of errors shows no control characters', async () => {
    const { env } = await startStandIn(() => [400, errorBody('InvalidQueryError', `unknown ${HOSTILE}`, 400)]);
    const { stderr } = await runInProcess(['computers', 'list', '-q', 'x'], env);
    expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('stops at the limit, and reads no further page', async () => {
    const { env, received } = await startStandIn(() => page([computer(1), computer(2), computer(3)]));
    const { stdout } = await runInProcess(['computers', 'list', '--limit', '2', '-o', 'json'], env);
    expect(JSON.parse(stdout)).toHaveLength(2);
    expect(received).toHaveLength(1);
  });
});

describe('flotilla api', () => {
  it('sends any request, its body from standard input', async () => {
    const { env, received } = await startStandIn(() => [200, { id: 1 }]);
    const args = ['api', 'POST', 'api/v2/tags?names=a&names=b', '--data', '-'];
    const ended = await runInProcess(args, env, '{"x": 1}');
    expect(JSON.parse(ended.stdout)).toEqual({ id: 1 });
    expect(received[0]).toMatchObject({ method: 'POST', path: '/tags?names=a%2Cb', body: { x: 1 } });
  });
});
