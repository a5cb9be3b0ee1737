import { setTimeout as sleep } from 'node:timers/promises';

const ENROLMENT_LIMIT_MS = 300_000;
const COMPUTERS = 25;

/**
 * Makes one of everything that an administrator makes, so that the first id of every kind is there, and waits for the
 * simulated fleet.
 *
 * @throws when anything is rejected
 */
export async function seedForSchemathesis(baseUrl: string, admin: { email: string; password: string }): Promise<void> {
  const { token } = await post(baseUrl, null, '/login', admin);
  await waitForComputers(baseUrl, token);
  const trigger = { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' };
  const script = await post(baseUrl, token, '/scripts', { title: 'Report', code: '#!/bin/sh\nuname -r\n' });
  const run = { all_computers: false, tags: ['lab'], time_limit: 60, username: 'root' };
  await post(baseUrl, token, '/script-profiles', { title: 'Later', script_id: script.id, trigger, ...run });
  await post(baseUrl, token, '/usg-profiles', {
    title: 'Baseline',
    benchmark: 'cis_level1_server',
    mode: 'audit',
    schedule: 'FREQ=WEEKLY',
    start_date: '2090-01-01',
  });
  await post(baseUrl, token, '/access-groups', { title: 'Servers' });
  await post(baseUrl, token, '/roles', { name: 'Reader' });
  await post(baseUrl, token, '/saved-searches', { name: 'lab', search: 'tag:lab' });
  await post(baseUrl, token, '/invitations', { name: 'Guest', email: 'guest@example.com', roles: ['Auditor'] });
  await post(baseUrl, token, '/snaps', { action: 'install', computer_ids: [1, 2], snaps: [{ name: 'hello' }] });
}

async function waitForComputers(baseUrl: string, token: string): Promise<void> {
  const end = performance.now() + ENROLMENT_LIMIT_MS;
  for (;;) {
    const response = await fetch(`${baseUrl}/api/v2/computers?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { count } = (await response.json()) as { count: number };
    if (count >= COMPUTERS / 2) return;
    if (performance.now() > end) throw new Error(`only ${count} computers have enrolled`);
    await sleep(500);
  }
}

async function post(baseUrl: string, token: string | null, path: string, body: object) {
  const response = await fetch(`${baseUrl}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { token: string; id: number };
}
