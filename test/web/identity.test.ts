import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPersistence, type Persistence } from '../../src/persistence/orm/orm.ts';
import { createAccount } from '../../tools/harness/accounts.ts';
import { signIn } from '../../tools/harness/chromium.ts';
import { type MailServer, startMailServer } from '../support/http/servers.ts';
import { ADMINISTRATOR, expectText, useBrowser } from '../support/web/browser.ts';

const PASSWORD = 'Guest-of-a-test-4711';

/** Has a stack of its own: the end of all sessions would end those of other tests. */
describe('mails and the end of sessions', () => {
  let mail: MailServer;
  let persistence: Persistence;
  const browser = useBrowser(async () => {
    mail = await startMailServer();
    return { FLOTILLA_SIMULATED_COMPUTERS: '0', FLOTILLA_SMTP_URL: mail.url };
  });
  beforeAll(async () => {
    persistence = await openPersistence({
      url: browser.stack.databaseUrl,
      poolSize: 1,
      applicationName: 'identity-test',
    });
  });
  afterAll(async () => {
    await persistence?.close();
    await mail?.close();
  });

  /** The mail to an address whose subject begins so, once it has arrived. */
  async function mailTo(address: string, subject: string): Promise<string> {
    const find = () =>
      mail.received.find(({ to, text }) => to[0] === address && text.includes(`Subject: ${subject}`))?.text;
    await expect.poll(find).toBeDefined();
    return find()!.replaceAll('=\r\n', '').replaceAll('\r\n', '\n');
  }

  const linkIn = (text: string) => new RegExp(`${browser.stack.url}/(?!api/)\\S+`).exec(text)?.[0] ?? '';

  /** Somebody who has joined the account by the link that was mailed to them, on their own page. */
  async function join(email: string, role: string): Promise<Page> {
    await browser.api.POST('/invitations', { body: { name: 'Guest', email, roles: [role], bind_to_email: true } });
    const page = await browser.newPage();
    await page.goto(linkIn(await mailTo(email, 'Invitation')));
    await signIn(page, email, PASSWORD);
    return page;
  }

  async function signInAs(email: string, password: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto('/settings');
    await signIn(page, email, password);
    return page;
  }

  /** Expects that a page finds out by itself that its session has ended, and that a reload leads to the sign-in page. */
  async function expectSignedOut(page: Page): Promise<void> {
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await page.reload();
    await page.waitForURL('**/sign-in?**');
  }

  it('an invitation arrives by mail, and its link joins the account once', async () => {
    const page = await browser.open('/people?tab=invitations');
    await page.getByRole('button', { name: 'Invite' }).click();
    const form = page.getByRole('dialog');
    await form.getByText('The invitation is mailed there.').waitFor();
    await form.getByLabel('Name').fill('Grace');
    await form.getByLabel('Email').fill('grace@fleet.example');
    await form.getByLabel('Auditor', { exact: true }).check();
    await form.getByRole('button', { name: 'Invite' }).click();
    await form.waitFor({ state: 'hidden' });
    const link = linkIn(await mailTo('grace@fleet.example', 'Invitation'));

    const own = await browser.newPage();
    await own.goto(link);
    await own.getByRole('heading', { level: 1, name: /^Join / }).waitFor();
    await signIn(own, 'grace@fleet.example', PASSWORD);
    await own.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const other = await browser.newPage();
    await other.goto(link);
    await other.getByRole('heading', { level: 1, name: 'This invitation cannot be used' }).waitFor();
  });

  it('a new address takes effect with the code that was mailed to it', async () => {
    const [former, wanted] = ['former@fleet.example', 'wanted@fleet.example'];
    const page = await join(former, 'Auditor');
    await page.goto('/settings');
    await page.getByLabel('Email').fill(wanted);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const code = page.getByLabel(`Code that was mailed to ${wanted}`);
    await code.fill('not the code');
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe(former);

    const text = await mailTo(wanted, 'Confirm');
    expect(linkIn(text)).toBe(`${browser.stack.url}/settings`);
    await page.goto(linkIn(text));
    await page.getByLabel('Name').fill('Changed meanwhile');
    await code.fill(/^Token: (\S+)$/m.exec(text)![1]!);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await code.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Email').inputValue()).toBe(wanted);
    expect(await mailTo(former, 'Your email address')).toContain('From now on they have another one');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(former);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await signIn(page, wanted, PASSWORD);
  });

  it('a test mail arrives', async () => {
    const page = await browser.open('/settings');
    await page.getByRole('button', { name: 'Send a test mail' }).click();
    await page.getByText('The mail server has accepted the mail').waitFor();
    expect(await mailTo(ADMINISTRATOR, 'Test')).toContain('test email');
  });

  it('a person ends their own sessions and access keys, and nobody else’s', async () => {
    const page = await join('own@fleet.example', 'Auditor');
    const elsewhere = await signInAs('own@fleet.example', PASSWORD);
    const colleague = await signInAs(ADMINISTRATOR, browser.stack.password);
    await page.goto('/people?tab=access-keys');
    await page.getByRole('button', { name: 'Create access key' }).click();
    await page.getByLabel('What it is for').fill('lost');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Copy secret key' }).waitFor();

    await page.goto('/settings');
    const sessions = page.locator('form', { has: page.getByRole('button', { name: 'End my sessions' }) });
    await sessions.getByLabel('Keep my access keys').uncheck();
    await page.getByRole('button', { name: 'End my sessions' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await expectSignedOut(elsewhere);
    await colleague.reload();
    await colleague.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto('/people?tab=access-keys');
    await signIn(page, 'own@fleet.example', PASSWORD);
    await page.getByText('You have no access keys').waitFor();
  });

  it('an administrator ends the sessions of the account, then the operator all on the server', async () => {
    const { email, password } = await createAccount(persistence.db, 'elsewhere');
    const stranger = await signInAs(email, password);
    const member = await join('member@fleet.example', 'GlobalAdmin');
    const operator = await browser.open('/settings?tab=account');
    await member.goto('/settings?tab=account');
    await member.getByRole('button', { name: 'End sessions in the account' }).waitFor();
    expect(await member.getByRole('button', { name: 'End sessions on the server' }).count()).toBe(0);

    await member.getByRole('button', { name: 'End sessions in the account' }).click();
    await member.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(new URL(member.url()).pathname).toBe('/sign-in');
    await expectSignedOut(operator);
    await stranger.reload();
    await stranger.getByRole('button', { name: 'Sign out' }).waitFor();

    await operator.goto('/settings?tab=account');
    await signIn(operator, ADMINISTRATOR, browser.stack.password);
    await operator.getByRole('button', { name: 'End sessions on the server' }).click();
    await operator.getByRole('button', { name: 'Sign in' }).waitFor();
    await expectSignedOut(stranger);
    await signIn(stranger, email, password);
    await expectText(stranger.getByRole('heading', { level: 1 }), /./);
  });
});
