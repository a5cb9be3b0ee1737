import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { untilLoaded, useBrowser } from '../support/web/browser.ts';
import { enrolledComputers } from '../support/web/computers.ts';

const PASSWORD = 'Limited-by-a-test-4711';
const RUNNERS = 'Script runners of a test';

describe('permissions', () => {
  const browser = useBrowser();
  let computer: number;
  let script: number;
  let activity: number;

  beforeAll(async () => {
    computer = (await enrolledComputers(browser.api))[10]!.id;
    const fields = {
      title: 'Script of permissions',
      code: '#!/bin/sh\ntrue\n',
      username: 'root',
      access_group: 'global',
    };
    script = (await browser.api.POST('/scripts', { body: fields })).data.id;
    const deliver_after = new Date(Date.now() + 86_400_000).toISOString();
    const snaps = { action: 'install' as const, computer_ids: [computer], snaps: [{ name: 'hello' }], deliver_after };
    activity = (await browser.api.POST('/snaps', { body: snaps })).data.id!;
    const permissions = ['ViewComputer', 'ViewScript', 'ExecuteScript'] as const;
    await browser.api.POST('/roles', { body: { name: RUNNERS, permissions: [...permissions] } });
  });

  /** A page of somebody who has a role, and nothing else. */
  async function openAs(role: string): Promise<Page> {
    const email = `${role.replaceAll(' ', '-')}@permissions.example`;
    const body = { name: role, email, roles: [role], bind_to_email: true };
    const { data } = await browser.api.POST('/invitations', { body });
    const page = await browser.newPage();
    await page.goto(`/invitations/${data.secure_id}`);
    await signIn(page, email, PASSWORD);
    return page;
  }

  /** Buttons and links that change something, by page. */
  const places = (): ReadonlyArray<readonly [path: string, ...names: Array<string | RegExp>]> => [
    [`/computers/${computer}`, 'Actions', 'Edit title, comment, tags…'],
    [`/computers/${computer}?tab=annotations`, 'Add an annotation…'],
    [`/activities/${activity}`, 'Cancel'],
    ['/scripts', 'New script'],
    [`/scripts/${script}`, 'Edit', 'Run'],
    ['/profiles', 'New profile'],
    ['/people', 'Invite'],
    ['/people?tab=roles', 'Create role'],
    ['/people?tab=access-groups', 'Add below Global access'],
    ['/people?tab=invitations', 'Invite'],
    ['/settings', 'Account', 'Webhooks'],
    ['/settings?tab=enrolment', /the key$|^Set a key$/],
  ];

  async function shown(page: Page, role: 'present' | 'absent'): Promise<string[]> {
    const wrong: string[] = [];
    for (const [path, ...names] of places()) {
      await page.goto(path);
      await untilLoaded(page);
      for (const name of names) {
        const [button, link, tab] = (['button', 'link', 'tab'] as const).map((kind) =>
          page.getByRole('main').getByRole(kind, { name, exact: true }),
        );
        const found = button!.or(link!).or(tab!);
        if (role === 'present') await found.first().waitFor();
        else if ((await found.count()) > 0) wrong.push(`${path}: ${name}`);
      }
    }
    return wrong;
  }

  it('decide which buttons there are', async () => {
    expect(await shown(await browser.open('/'), 'present')).toEqual([]);
    expect(await shown(await openAs('Auditor'), 'absent')).toEqual([]);
  });

  it('decide what the menu of actions has', async () => {
    const page = await openAs(RUNNERS);
    await page.goto('/computers');
    await page
      .getByRole('checkbox', { name: /^Select (?!all)/ })
      .first()
      .check();
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Run a script']);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('re');
    await page.getByRole('option', { name: 'Profiles' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('option', { name: /^Re(start|move snaps)$/ }).count()).toBe(0);
    await page.goto(`/act/restart?ids=${computer}`);
    await page.getByText('in access groups where you may not do this').waitFor();
    expect(await page.getByRole('button', { name: 'Restart', exact: true }).isDisabled()).toBe(true);
    await page.goto(`/act/run-script?ids=${computer}&script=${script}`);
    await page.getByRole('heading', { name: '1 computer', exact: true }).waitFor();
    expect(await page.getByText('in access groups where you may not do this').count()).toBe(0);
  });

  it('leave out the menu of actions where nothing is allowed', async () => {
    const page = await openAs('Auditor');
    await page.goto('/computers');
    await page
      .getByRole('checkbox', { name: /^Select (?!all)/ })
      .first()
      .check();
    await page.getByText(', 1 selected').waitFor();
    expect(await page.getByRole('button', { name: 'Actions', exact: true }).count()).toBe(0);
  });
});
