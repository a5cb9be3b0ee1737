import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { killStack } from '../../../tools/harness/stack-processes.ts';
import { register } from '../../support/agents/raw-agent.ts';
import { temporaryDirectory } from '../../support/common/process.ts';
import { type RunningStack, stackSettings, startStack } from './npm-start.ts';

const PASSWORD = 'chosen-by-this-test';

async function call(stack: RunningStack, method: string, path: string, token: string | null, body?: object) {
  const response = await fetch(`${stack.baseUrl}/api/v2${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function logIn(stack: RunningStack): Promise<string> {
  const body = { email: 'admin@example.com', password: PASSWORD };
  return (await call(stack, 'POST', '/login', null, body))['token'] as string;
}

async function untilEnrolled(stack: RunningStack, token: string, count: number): Promise<void> {
  const enrolled = async () => (await call(stack, 'GET', '/computers', token))['count'];
  await expect.poll(enrolled, { timeout: 60_000, interval: 200 }).toBe(count);
}

/** A machine of somebody else that tries to enrol. @returns the type or reason in the response */
async function outsider(stack: RunningStack, title: string, key?: string) {
  const fields = { account_name: 'standalone', computer_title: title };
  const response = await register({ url: stack.baseUrl }, key ? { ...fields, registration_password: key } : fields);
  return response['info'] ?? response['type'];
}

it('lets nobody enrol where other machines reach it, until an operator allows it', {
  timeout: 240_000,
}, async () => {
  const dataDir = join(await temporaryDirectory(), 'data');
  onTestFinished(() => killStack(dataDir));
  const settings = await stackSettings(dataDir, {
    FLOTILLA_HOST: '0.0.0.0',
    FLOTILLA_SIMULATED_COMPUTERS: '2',
    FLOTILLA_ADMIN_PASSWORD: PASSWORD,
  });
  const first = startStack(settings);
  await first.ready();
  const key = /Registration key\s+(\S{24})\s/.exec(first.output())?.[1];
  expect(key).toBeDefined();
  const token = await logIn(first);
  await untilEnrolled(first, token, 2);
  expect(await outsider(first, 'without')).toBe('unknown-account');
  expect(await outsider(first, 'wrong', 'guess')).toBe('unknown-account');
  expect(await outsider(first, 'invited', key)).toBe('set-id');
  expect((await call(first, 'GET', '/pending-computers', token))['count']).toBe(1);
  await untilEnrolled(first, token, 2);
  const opened = { registration_password: null, auto_register_new_computers: true };
  await call(first, 'PATCH', '/preferences', token, opened);
  first.process.kill('SIGTERM');
  await expect(first.exited).resolves.toBe(0);

  const second = startStack(settings);
  await second.ready();
  expect(second.output()).not.toContain('Registration key');
  expect(await outsider(second, 'welcome')).toBe('set-id');
  await untilEnrolled(second, await logIn(second), 3);
  second.process.kill('SIGTERM');
  await expect(second.exited).resolves.toBe(0);
});
