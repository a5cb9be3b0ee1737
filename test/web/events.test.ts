import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { expectAccessible, expectNoSideways, useBrowser } from '../support/web/browser.ts';

const browser = useBrowser();

/** Runs a new script on nothing, so that the log and the stream have events about it. */
async function runNowhere(title: string): Promise<number> {
  const code = '#!/bin/sh\ntrue';
  const { data: script } = await browser.api.POST('/scripts', {
    body: { title, code, username: 'root', access_group: null },
  });
  const params = { path: { script_id: script.id } };
  const { data } = await browser.api.POST('/scripts/{script_id}:execute', { params, body: { query: 'id:2147483647' } });
  return data.id;
}

it('the log is searched, and shares its view by its address', async () => {
  await runNowhere('Nightly of the log');
  const page = await browser.open('/events?days=7');
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
  await page.getByLabel('Search').fill('the script nightly of THE log');
  const created = page.getByRole('row', { name: /Created the script Nightly of the log/ });
  await created.waitFor();
  await page.waitForURL((url) => url.searchParams.has('search'));
  expect(new URL(page.url()).searchParams.get('days')).toBe('7');
  await page.reload();
  await created.getByRole('link', { name: 'Nightly of the log' }).waitFor();
  expect(await page.getByRole('row', { name: /Logged in/ }).count()).toBe(0);
  await expectAccessible(page);

  await page.getByLabel('Search').fill('no such thing anywhere');
  await page.getByText('No entry matches').waitFor();
});

it('live events can be paused and filtered, and lead to what they are about', async () => {
  const page = await browser.open('/events?tab=live');
  await page.getByText('Live', { exact: true }).last().waitFor();
  const id = await runNowhere('Seen live');
  const created = rowOf(page, 'Activity created', 'Run script: Seen live');
  await created.waitFor();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Pause' }).click();
  await runNowhere('Seen later');
  await page.getByText(/Paused, [1-9]/).waitFor();
  expect(await rowOf(page, 'Activity created', 'Run script: Seen later').count()).toBe(0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await rowOf(page, 'Activity created', 'Run script: Seen later').waitFor();

  await page.getByLabel('Type').selectOption('Log entry');
  await rowOf(page, 'Log entry', /the script Seen live/)
    .first()
    .waitFor();
  expect(await created.count()).toBe(0);
  await page.getByLabel('Type').selectOption('Activity created');
  await created.getByRole('link', { name: `Activity ${id}` }).click();
  await page.waitForURL(`**/activities/${id}`);
});

const rowOf = (page: Page, type: string, text: string | RegExp) =>
  page.getByRole('table', { name: 'Live events' }).getByRole('row').filter({ hasText: type }).filter({ hasText: text });

it('shows no log to those who may not read it', async () => {
  const [email, password] = ['analyst@example.com', 'Reads-no-log-4711'];
  const invitation = { name: 'Analyst', email, roles: ['SupportAnalyst'], bind_to_email: true };
  const { secure_id } = (await browser.api.POST('/invitations', { body: invitation })).data;
  await browser.api.request('POST', '/login', { body: { email, password, invitation_id: secure_id } });
  const page = await browser.newPage({ size: 'phone' });
  await page.goto('/events');
  await signIn(page, email, password);
  await page.getByRole('tab', { name: 'Live' }).waitFor();
  expect(await page.getByRole('tab').count()).toBe(1);
  await expectNoSideways(page);
});
