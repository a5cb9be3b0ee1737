import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it.each(['you', 'account', 'enrolment', 'webhooks', 'server'])('fit on a phone: %s', async (tab) => {
    const page = await browser.open(`/settings?tab=${tab}`, { size: 'phone' });
    await untilLoaded(page);
    await expectNoSideways(page);
    await expectAccessible(page);
  });
});
