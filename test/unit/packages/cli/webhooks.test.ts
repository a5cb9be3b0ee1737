import { describe, expect, it } from 'vitest';
import { type Answer, page, type Received, runInProcess, startStandIn } from '../../../support/cli/in-process.ts';

const SECRET = `whsec_${'a'.repeat(44)}`;
const webhook = {
  id: 3,
  status: 'active',
  url: 'https://example.com/hook',
  types: null,
  query: 'tag:lab',
  ordered: true,
};
const delivery = { id: 9, event_id: '100-1', event_type: 'webhook.test', status: 'pending', attempts: 0 };

function answer({ method, path }: Received): Answer {
  if (method === 'DELETE') return [204, undefined];
  if (path === '/webhooks' && method === 'POST') return [201, { webhook, secret: SECRET }];
  if (path.endsWith(':rotate-secret')) {
    return [200, { secret: SECRET, previous_secret_expiry_time: '2026-11-28T10:30:00Z' }];
  }
  if (path.endsWith(':test')) return [201, delivery];
  if (path.endsWith(':redeliver')) return [200, { redelivered: 2 }];
  if (path.endsWith(':replay')) return [200, { after: '100-1', before: '100-9' }];
  if (path.includes('/deliveries')) return page([delivery]);
  return path === '/webhooks' ? page([webhook]) : [200, webhook];
}

describe('flotilla webhooks', () => {
  it.each([
    [['list'], 'GET', '/webhooks', null],
    [['show', '3'], 'GET', '/webhooks/3', null],
    [['edit', '3', '--status', 'paused'], 'PATCH', '/webhooks/3', { status: 'paused' }],
    [['edit', '3', '--types', 'all', '-q', ''], 'PATCH', '/webhooks/3', { types: null, query: null }],
    [['edit', '3', '--no-ordered'], 'PATCH', '/webhooks/3', { ordered: false }],
    [['delete', '3', '--yes'], 'DELETE', '/webhooks/3', null],
    [['test', '3'], 'POST', '/webhooks/3:test', null],
    [['deliveries', '3', '--status', 'failed'], 'GET', '/webhooks/3/deliveries?status=failed&limit=100', null],
    [['redeliver', '3', '9', '10'], 'POST', '/webhooks/3:redeliver', { delivery_ids: [9, 10] }],
    [['replay', '3', '--after', '100-1'], 'POST', '/webhooks/3:replay', { after: '100-1', before: 'latest' }],
  ])('%j', async (args, method, path, body) => {
    const { env, received } = await startStandIn(answer);
    expect(await runInProcess(['webhooks', ...args], env)).toMatchObject({ code: 0 });
    expect(received).toMatchObject([{ method, path, body }]);
  });

  it('create and rotate-secret print the secret alone', async () => {
    const { env, received } = await startStandIn(answer);
    const create = ['webhooks', 'create', webhook.url, '--ordered', '--types', 'activity.ended,operation.ended'];
    const created = await runInProcess(create, env);
    expect(created).toMatchObject({ code: 0, stdout: `${SECRET}\n` });
    expect(created.stderr).toContain('Store the secret now');
    expect(created.stderr).not.toContain(SECRET);
    const body = { url: webhook.url, ordered: true, types: ['activity.ended', 'operation.ended'] };
    expect(received[0]!.body).toEqual(body);
    const rotated = await runInProcess(['webhooks', 'rotate-secret', '3'], env);
    expect(rotated.stdout).toBe(`${SECRET}\n`);
    expect(JSON.parse((await runInProcess([...create, '-o', 'json'], env)).stdout)).toEqual({
      webhook,
      secret: SECRET,
    });
  });

  it.each([
    [['edit', '3'], 'Nothing to change'],
    [['delete', '3'], 'add --yes'],
    [['replay', '3'], '--after'],
  ])('%j is wrong usage, and nothing is sent', async (args, message) => {
    const { env, received } = await startStandIn(answer);
    const ended = await runInProcess(['webhooks', ...args], env);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(received).toEqual([]);
  });
});
