import pg from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { register } from '../support/agents/raw-agent.ts';
import { signIn } from '../../tools/harness/chromium.ts';
import {
  ADMINISTRATOR,
  expectAccessible,
  expectNoSideways,
  expectText,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';

const HOSTILE = `<img src=x onerror="document.title='broken'"> ${'x'.repeat(180)}`;
const browser = useBrowser();

const lineOf = (page: Page, list: string, text: string) =>
  page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: text });

it('counts computers by state, and each number leads to them', async () => {
  const page = await browser.open('/');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const { count } = (await browser.api.GET('/computers', { params: { query: { query: 'needs:reboot' } } })).data;
  const link = page.getByRole('link', { name: `${count} Need a restart` });
  await link.waitFor();
  await expectAccessible(page);
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Computers' }).waitFor();
  expect(new URL(page.url()).searchParams.get('query')).toBe('needs:reboot');
});

it('shows how far running activities are, until they have ended', { timeout: 3 * WORK_MS }, async () => {
  const page = await browser.open('/');
  const code = '#!/bin/sh\ntrue';
  const { data: script } = await browser.api.POST('/scripts', {
    body: { title: 'Overview', code, username: 'root', access_group: null },
  });
  const params = { path: { script_id: script.id } };
  // The random times within a minute leave the page time to show the progress, on computers that other tests do not wait for.
  const body = { query: 'id:7 OR id:8 OR id:9 OR id:10 OR id:11 OR id:12', deliver_delay_window: 1 };
  const { data: activity } = await browser.api.POST('/scripts/{script_id}:execute', { params, body });
  const line = lineOf(page, 'In progress', 'Run script: Overview');
  await line.getByRole('progressbar').waitFor({ timeout: WORK_MS });
  await expectText(line, /[1-5] of 6/, WORK_MS);
  await browser.api.waitFor(activity.id, { timeout: WORK_MS });
  await line.waitFor({ state: 'detached' });
});

/** No call of the API makes one: such activities come with imported data. */
async function unapprovedActivity(): Promise<number> {
  const deliver_after = new Date(Date.now() + 3_600_000).toISOString();
  const body = { computer_ids: [1, 2], snaps: [{ name: 'hello' }], deliver_after };
  const { data: activity } = await browser.api.POST('/snaps', { body: { action: 'install', ...body } });
  const database = new pg.Client(browser.stack.databaseUrl);
  await database.connect();
  await database.query(
    `update activity set status = 'unapproved', needed_approval = true where $1 in (id, parent_id)`,
    [activity.id],
  );
  await database.end();
  return activity.id;
}

it('activities that wait for approval are approved', async () => {
  const id = await unapprovedActivity();
  const page = await browser.open('/');
  const line = lineOf(page, 'Activities to approve', 'Install snaps on computer');
  await line.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve the activity' });
  await dialog.getByText('goes to 2 computers').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await line.waitFor({ state: 'detached' });
  const params = { path: { activity_id: id } };
  expect((await browser.api.GET('/activities/{activity_id}', { params })).data.activity_status).toBe('scheduled');
  await browser.api.POST('/activities/cancel', { body: { activity_ids: [id] } });
});

describe('computers that wait', () => {
  const findAccepted = async () =>
    (await browser.api.GET('/computers', { params: { query: { query: 'title:accepted-1' } } })).data.results;
  beforeAll(async () => {
    // The simulated computers would have to wait as well.
    await vi.waitFor(async () => expect((await browser.api.GET('/computers')).data.count).toBe(12), WORK_MS);
    await browser.api.PATCH('/preferences', { body: { auto_register_new_computers: false } });
    await browser.api.POST('/access-groups', { body: { title: 'Waiting room' } });
    for (const computer_title of ['waiting-1', HOSTILE]) {
      await register(browser.stack, { account_name: 'standalone', computer_title });
    }
  });
  afterAll(async () => {
    await browser.api.PATCH('/preferences', { body: { auto_register_new_computers: true } });
    const computer_ids = (await findAccepted()).map(({ id }) => id);
    if (computer_ids.length > 0) await browser.api.POST('/computers:delete', { body: { computer_ids } });
  });

  it('are accepted into a group under a title, or rejected', async () => {
    const page = await browser.open('/');
    await lineOf(page, 'Computers to accept', 'waiting-1').getByRole('button', { name: 'Accept' }).click();
    const dialog = page.getByRole('dialog', { name: 'Accept the computer' });
    await dialog.getByLabel('Access group').selectOption('Waiting room');
    await dialog.getByLabel('Title').fill('accepted-1');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Accept', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await findAccepted()).toMatchObject([{ title: 'accepted-1', access_group: 'waiting-room' }]);

    await page.setViewportSize({ width: 400, height: 800 });
    const line = lineOf(page, 'Computers to accept', '<img src=x');
    await line.getByRole('button', { name: 'Reject' }).waitFor();
    await expectNoSideways(page);
    await line.getByRole('button', { name: 'Reject' }).click();
    const rejection = page.getByRole('dialog', { name: 'Reject the computer' });
    await rejection.getByRole('button', { name: 'Reject', exact: true }).click();
    await rejection.waitFor({ state: 'detached' });
    await line.waitFor({ state: 'detached' });
    expect(await page.title()).toBe('Overview – Flotilla');
    expect((await browser.api.GET('/pending-computers')).data.count).toBe(0);
  });
});

it('an empty fleet explains how the first computer gets there', async () => {
  const page = await browser.newPage();
  const nothing = { count: 0, results: [], next: null, previous: null };
  await page.route('**/api/v2/computers?*', (route) => route.fulfill({ json: nothing }));
  await page.goto('/');
  await signIn(page, ADMINISTRATOR, browser.stack.password);
  await page.getByText('There are no computers yet').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).waitFor();
});
