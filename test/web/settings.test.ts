import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import {
  expectAccessible,
  expectNoSideways,
  expectText,
  untilLoaded,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';

describe('settings', () => {
  const browser = useBrowser();
  const received: IncomingHttpHeaders[] = [];
  let receiver: Server;
  let receiverUrl: string;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received.push(request.headers);
      request.resume().on('end', () => response.writeHead(204).end());
    });
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
    receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
  });
  afterAll(() => receiver.close());

  const storage = (page: Page) => page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })');

  it('keep preferences across a reload, also before they are saved', async () => {
    const page = await browser.open('/settings?tab=account');
    await page.getByLabel('Name of the account').fill('Fleet of the north');
    await page.getByLabel('Set how often computers contact the server').check();
    await page.getByLabel('Between two pings').fill('45');
    await page.reload();
    expect(await page.getByLabel('Between two pings').inputValue()).toBe('45');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    expect(await page.getByLabel('Name of the account').inputValue()).toBe('Fleet of the north');
    const { title, agent_intervals } = (await browser.api.GET('/preferences')).data;
    expect({ title, agent_intervals }).toEqual({
      title: 'Fleet of the north',
      agent_intervals: { ping: 45, urgent_exchange: 60, exchange: 900 },
    });
  });

  it('limit what waits for one computer, and remove the limit', async () => {
    const limit = async () => (await browser.api.GET('/message-backlog-settings')).data.max_message_backlog;
    const page = await browser.open('/settings?tab=account');
    await page.getByLabel('Limit how many messages wait').check();
    await page.getByLabel('Messages for one computer').fill('5000');
    await page.getByRole('button', { name: 'Save limit' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await limit()).toBe(5000);
    await page.reload();
    await page.getByLabel('Limit how many messages wait').uncheck();
    await page.getByRole('button', { name: 'Save limit' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await expect(limit()).rejects.toMatchObject({ code: 'NoMessageBacklogSetting' });
  });

  it('send a test to a webhook, whose secret is shown once', async () => {
    const page = await browser.open('/settings?tab=webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Address').fill(receiverUrl);
    await form.getByLabel('Computers').fill('no-such-selector:x');
    await form.getByRole('button', { name: 'Create' }).click();
    await expectText(form.getByText('character 1'), 'expected one of the selectors');
    await form.getByLabel('Computers').fill('tag:web');
    await form.getByLabel('Activity ended').check();
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Copy secret' }).waitFor();
    const secret = await page.getByText(/^whsec_/).textContent();
    expect(await storage(page)).not.toContain(secret);

    await page.getByRole('link', { name: receiverUrl }).click();
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expectText(page.getByRole('row', { name: /\bTest\b/ }), /Delivered/, WORK_MS);
    expect(received.at(-1)).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/) });

    await page.reload();
    await page.getByRole('row', { name: /\bTest\b/ }).waitFor();
    expect(await page.getByText(/^whsec_/).count()).toBe(0);
    await page
      .getByRole('row', { name: /\bTest\b/ })
      .getByRole('checkbox')
      .check();
    await page.getByRole('button', { name: 'Send 1 again' }).click();
    await expect.poll(() => received.length, { timeout: WORK_MS }).toBe(2);
    await expectAccessible(page);
  });

  it('name this server and its key in the commands that add a computer', async () => {
    const page = await browser.open('/settings?tab=enrolment');
    await page.getByRole('button', { name: 'Set a key' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Registration key').fill("fleet's key");
    await form.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByRole('button', { name: 'Change the key' }).waitFor();
    const commands = page.getByText('sudo landscape-config --silent \\');
    await expectText(commands, `--url ${browser.stack.url}/message-system`);
    await expectText(commands, '--account-name standalone');
    await expectText(commands, '--registration-key the-registration-key');
    expect(await page.getByText("fleet's key").count()).toBe(0);
    await page.getByLabel('Show the registration key').check();
    await expectText(commands, String.raw`--registration-key 'fleet'\''s key'`);
    expect(await storage(page)).not.toContain("fleet's key");
    await page.getByRole('button', { name: 'Remove the key' }).click();
    await form.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Set a key' }).waitFor();
  });

  it('reject a password at its field, and keep none', async () => {
    const page = await browser.open('/settings');
    await page.getByLabel('Current password').fill(browser.stack.password);
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByLabel('New password again').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await expectText(page.getByText('must have 12 to 128'), 'characters');
    expect(await storage(page)).not.toContain('short');
  });

  it('have the time zone in which the person reads and enters times', async () => {
    const [email, password] = ['zone@fleet.example', 'Zoned-by-a-test-4711'];
    const invitation = { name: 'Zoe', email, roles: ['GlobalAdmin'], bind_to_email: true };
    const { secure_id } = (await browser.api.POST('/invitations', { body: invitation })).data;
    await browser.api.request('POST', '/login', { body: { email, password, invitation_id: secure_id } });
    const page = await browser.newPage();
    await page.goto('/settings');
    await signIn(page, email, password);
    const time = page.getByRole('definition').getByRole('time').first();
    const shown = async (zone: string) => {
      const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone });
      return format.format(new Date((await time.getAttribute('datetime'))!));
    };
    const browserZone = await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone');
    await expect.poll(async () => (await time.textContent()) === (await shown(browserZone))).toBe(true);
    await page.getByLabel('Time zone').fill('Asia/Kathmandu');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(async () => (await time.textContent()) === (await shown('Asia/Kathmandu'))).toBe(true);
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);

    await page.goto('/act/restart?query=');
    await page.getByText('More options').click();
    await page.getByText('In Asia/Kathmandu; at once without a time.').waitFor();
    await page.getByLabel('Not before').fill('2036-05-04T22:00');
    await page.getByText('In Asia/Kathmandu; 2036-05-04T16:15:00Z in UTC.').waitFor();
    await page.goto('/profiles/usg/new');
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Kathmandu');
  });

  it.each(['you', 'account', 'enrolment', 'webhooks', 'server'])('fit on a phone: %s', async (tab) => {
    const page = await browser.open(`/settings?tab=${tab}`, { size: 'phone' });
    await untilLoaded(page);
    await expectNoSideways(page);
    await expectAccessible(page);
  });
});
