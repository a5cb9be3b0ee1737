import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
  for (const title of ['kept', 'put-away', 'wiped']) {
    const code = '#!/bin/sh\ntrue\n';
    const script = (await call('POST', '/scripts', { title, code })).body.id;
    if (title === 'put-away') await call('POST', `/scripts/${script}:archive`);
    if (title === 'wiped') await call('POST', `/scripts/${script}:redact`);
    if (title !== 'kept') continue;
    for (const profile of ['kept', 'put-away']) await addScriptProfile(profile, script);
  }
  for (const title of ['kept', 'put-away']) {
    const request = { title, benchmark: 'disa_stig', mode: 'audit', schedule: 'FREQ=WEEKLY', start_date: '2090-01-01' };
    const { id } = (await call('POST', '/usg-profiles', request)).body;
    if (title === 'put-away') await call('POST', `/usg-profiles/${id}:archive`);
  }
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: object) =>
  world.app.call(method, path, { token: world.tokens.admin, body });

async function addScriptProfile(title: string, script: number): Promise<void> {
  const trigger = { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' };
  const request = {
    title,
    script_id: script,
    all_computers: true,
    tags: [],
    time_limit: 60,
    username: 'root',
    trigger,
  };
  const { id } = (await call('POST', '/script-profiles', request)).body;
  if (title === 'put-away') await call('POST', `/script-profiles/${id}:archive`);
}

async function titles(path: string): Promise<string[]> {
  const { results, count } = (await call('GET', path)).body;
  expect(count).toBe(results.length);
  return results.map(({ title }: { title: string }) => title).sort();
}

const FLEET = ['db', 'desk', 'web'];

describe('lists filtered by status', () => {
  it.each([
    ['/computers', '', FLEET],
    ['/computers', 'status=active', FLEET],
    ['/computers', 'status=archived', ['archived']],
    ['/computers', 'status=all', ['archived', ...FLEET]],
    ['/computers', 'status=all&query=archived', ['archived']],
    ['/computers', 'archived_only=true', ['archived']],
    ['/computers', 'archived_only=false', FLEET],
    ['/computers', 'archived_only=1&status=archived', ['archived']],
    ['/usg-profiles', '', ['kept', 'put-away']],
    ['/usg-profiles', 'status=all', ['kept', 'put-away']],
    ['/usg-profiles', 'status=active', ['kept']],
    ['/usg-profiles', 'status=archived', ['put-away']],
    ['/usg-profiles', 'status=over-limit', []],
    ['/script-profiles', '', ['kept']],
    ['/script-profiles', 'status=active', ['kept']],
    ['/script-profiles', 'status=archived', ['put-away']],
    ['/script-profiles', 'status=all', ['kept', 'put-away']],
    ['/script-profiles', 'archived=archived', ['put-away']],
    ['/script-profiles', 'archived=all', ['kept', 'put-away']],
    ['/script-profiles', 'archived=all&status=all', ['kept', 'put-away']],
    ['/scripts', '', ['kept']],
    ['/scripts', 'status=active', ['kept']],
    ['/scripts', 'status=archived', ['put-away']],
    ['/scripts', 'status=redacted', ['wiped']],
    ['/scripts', 'status=all', ['kept', 'put-away', 'wiped']],
    ['/scripts', 'script_type=v2', ['kept']],
    ['/scripts', 'script_type=v2&status=active', ['kept']],
    ['/scripts', 'script_type=archived', ['put-away']],
    ['/scripts', 'script_type=all', ['kept', 'put-away', 'wiped']],
  ])('%s?%s', async (path, query, expected) => {
    expect(await titles(`${path}?${query}`)).toEqual([...expected].sort());
  });

  it.each([
    ['/computers', 'status=active&archived_only=true', 'archived_only'],
    ['/computers', 'status=all&archived_only=false', 'archived_only'],
    ['/script-profiles', 'status=all&archived=active', 'archived'],
    ['/scripts', 'status=archived&script_type=v2', 'script_type'],
  ])('%s?%s is rejected: the two contradict each other', async (path, query, name) => {
    expect((await call('GET', `${path}?${query}`)).body).toMatchObject({
      error: 'InvalidParameterCombination',
      code: 400,
      details: [{ path: `query.${name}` }],
    });
  });

  it.each(['/computers', '/usg-profiles', '/script-profiles', '/scripts'])(
    '%s rejects any other status',
    async (path) => {
      expect((await call('GET', `${path}?status=gone`)).body).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: 'query.status' }],
      });
    },
  );

  it('go from page to page within it', async () => {
    const first = (await call('GET', '/computers?status=all&limit=3')).body;
    expect(first.count).toBe(4);
    const second = (await call('GET', new URL(first.next).pathname + new URL(first.next).search)).body;
    expect([first, second].flatMap(({ results }) => results).map(({ title }: { title: string }) => title)).toEqual([
      'web',
      'db',
      'desk',
      'archived',
    ]);
  });
});
