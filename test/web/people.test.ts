import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { expectAccessible, expectNoSideways, expectText, untilLoaded, useBrowser } from '../support/web/browser.ts';

const PASSWORD = 'Invited-by-a-test-4711';
const HOSTILE = '<img src=x onerror=alert(1)>';

describe('people', () => {
  const browser = useBrowser();

  /** Fills in the form of an invitation, and returns the link that it has afterwards. */
  async function invite(page: Page, { name, email, role }: { name: string; email: string; role: string }) {
    await page.goto('/people?tab=invitations');
    await page.getByRole('button', { name: 'Invite' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill(name);
    await form.getByLabel('Email').fill(email);
    await form.getByLabel(role, { exact: true }).check();
    await form.getByRole('button', { name: 'Invite' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: `Copy link for ${email}` }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    return page.evaluate<string>('navigator.clipboard.readText()');
  }

  it('are invited, join in their own browser, and see only what their role allows', async () => {
    const page = await browser.open('/people');
    const email = 'ada@fleet.example';
    const link = await invite(page, { name: `Ada ${HOSTILE}`, email, role: 'Auditor' });
    expect(link).toMatch(new RegExp(`^${browser.stack.url}/invitations/[A-Za-z0-9]{30}$`));

    const own = await browser.newPage();
    await own.goto(link);
    await signIn(own, email, PASSWORD);
    await own.goto('/people');
    await untilLoaded(own);
    await own.getByRole('row', { name: email }).waitFor();
    expect(await own.getByText(`Ada ${HOSTILE}`).count()).toBeGreaterThan(0);
    expect(await own.getByRole('button', { name: /Invite|Change/ }).count()).toBe(0);
    await own.getByRole('tab', { name: 'Roles' }).click();
    await own.getByRole('columnheader', { name: 'Auditor' }).waitFor();
    expect(await own.getByRole('button', { name: 'Create role' }).count()).toBe(0);

    await page.goto('/people');
    await page.getByRole('button', { name: `Change Ada ${HOSTILE}` }).click();
    await page.getByRole('menuitem', { name: 'Change roles' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('SupportAnalyst').check();
    await form.getByRole('button', { name: 'Save roles' }).click();
    await form.waitFor({ state: 'hidden' });
    await expectText(page.getByRole('row', { name: email }), /Auditor, SupportAnalyst/);
  });

  it('change their address once an administrator confirms it, where the server sends no mail', async () => {
    const page = await browser.open('/people');
    const [former, wanted] = ['before@fleet.example', 'after@fleet.example'];
    const own = await browser.newPage();
    await own.goto(await invite(page, { name: 'Mover', email: former, role: 'Auditor' }));
    await signIn(own, former, PASSWORD);
    await own.goto('/settings');
    await own.getByLabel('Email').fill(wanted);
    await own.getByRole('button', { name: 'Save', exact: true }).click();
    await expectText(
      own.getByText('waits for confirmation'),
      `${wanted} waits for confirmation. This server sends no mail`,
    );

    await page.goto('/people');
    await page.getByRole('button', { name: 'Change Mover' }).click();
    await page.getByRole('menuitem', { name: 'Confirm a new email address' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('New address').fill('other@fleet.example');
    await form.getByRole('button', { name: 'Confirm' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('New address').fill(wanted);
    await form.getByRole('button', { name: 'Confirm' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.getByRole('row', { name: wanted }).waitFor();
    await own.reload();
    await own.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await own.getByLabel('Email').inputValue()).toBe(wanted);
  });

  it('may do what the matrix of roles shows, which a new role joins', async () => {
    const page = await browser.open('/people?tab=roles');
    await page.getByRole('button', { name: 'Create role' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Night shift');
    await form.getByLabel('Execute script').check();
    await page.reload();
    expect(await form.getByLabel('Name').inputValue()).toBe('Night shift');
    await form.getByRole('button', { name: 'Create' }).click();
    await form.waitFor({ state: 'hidden' });
    const column = (await page.getByRole('columnheader').allTextContents()).indexOf('Night shift');
    const cellOf = (permission: string) =>
      page
        .getByRole('row', { name: permission })
        .locator('td')
        .nth(column - 1)
        .textContent();
    expect(await cellOf('Execute script')).toContain('Yes');
    expect(await cellOf('View script profile')).toContain('No');
    await expectAccessible(page);
  });

  it('show the message of the server at its field', async () => {
    const page = await browser.open('/people?tab=access-groups');
    await page.getByRole('button', { name: 'Add below Global access' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Title').fill('!!!');
    await form.getByRole('button', { name: 'Create' }).click();
    await expectText(form.getByText('must have 1 to 255'), 'letters, digits');
    expect(await form.getByLabel('Title').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Title').fill('Third floor');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Rename Third floor' }).waitFor();
    await expectAccessible(page);
  });

  it('see the secret of an access key once', async () => {
    const page = await browser.open('/people?tab=access-keys');
    await page.getByRole('button', { name: 'Create access key' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('What it is for').fill('backups');
    await form.getByLabel('Your password').fill('not my password');
    await form.getByRole('button', { name: 'Create' }).click();
    await expectText(form.getByRole('alert'), 'password is wrong');
    await form.getByLabel('Your password').fill(browser.stack.password);
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Copy secret key' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Delete backups' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy secret key' }).count()).toBe(0);
    expect(await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).not.toContain('password');
  });

  it.each(['administrators', 'roles', 'access-groups', 'invitations', 'access-keys'])(
    'fit on a phone: %s',
    async (tab) => {
      const page = await browser.open(`/people?tab=${tab}`, { size: 'phone' });
      await untilLoaded(page);
      await expectNoSideways(page);
      await expectAccessible(page);
    },
  );
});
