import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNoSideways,
  expectText,
  untilLoaded,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';
import { enrolledComputers } from '../support/web/computers.ts';

const TABS = [
  'Hardware',
  'Network',
  'Packages',
  'Snaps',
  'Users',
  'Processes',
  'Kernel',
  'Compliance',
  'Annotations',
  'Work',
];
/** One of each kind of content: the rules take seconds on each. */
const AXE_TABS = ['Packages', 'Compliance'];
const HOSTILE = {
  markup: `<img src=x onerror="document.title='run'"><script>alert(1)</script>`,
  'right-to-left text': '\u202Eמחשב \u2067כתובת',
  '200 characters': 'w'.repeat(200),
};

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

describe('the page of a computer', () => {
  const browser = useBrowser();
  let computer: { id: number; title: string };

  beforeAll(async () => {
    computer = (await enrolledComputers(browser.api))[11]!;
  });

  const path = (tab?: string) => `/computers/${computer.id}${tab ? `?tab=${tab}` : ''}`;

  it('has a tab for everything that is known, each at its own address', async () => {
    const page = await browser.open(path());
    await expectText(heading(page), computer.title);
    await page.getByRole('heading', { level: 2, name: 'System' }).waitFor();
    await expectAccessible(page);
    for (const name of TABS) {
      await page.getByRole('tab', { name, exact: true }).click();
      await untilLoaded(page);
      expect(new URL(page.url()).searchParams.get('tab')).toBe(name.toLowerCase());
      await expect.poll(() => page.getByRole('tabpanel').textContent()).not.toBe('');
      expect(await page.getByRole('alert').count()).toBe(0);
      if (AXE_TABS.includes(name)) await expectAccessible(page);
    }
  });

  it('changes title, tags and annotations', async () => {
    const page = await browser.open(path());
    await page.getByRole('button', { name: 'Edit title, comment, tags…' }).click();
    await page.getByLabel('Tags').fill('one two');
    await page.getByLabel('Comment').fill('In the test');
    await page.reload();
    expect(await page.getByLabel('Comment').inputValue()).toBe('In the test');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('definition').filter({ hasText: 'In the test' }).waitFor();
    await page.getByRole('button', { name: 'Add an annotation…' }).click();
    await page.getByLabel('Key').fill('not a key');
    await page.getByLabel('Value').fill('B 12');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByLabel('Key').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Key').fill('shelf');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('definition').filter({ hasText: 'B 12' }).waitFor();
    await page.getByRole('button', { name: 'Remove shelf' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await expect.poll(() => page.getByRole('button', { name: 'Remove shelf' }).count()).toBe(0);
    const params = { path: { computer_id: computer.id }, query: { with_annotations: true } };
    const { data } = await browser.api.GET('/computers/{computer_id}', { params });
    expect([data.tags, data.comment, data.annotations?.['shelf']]).toEqual([['one', 'two'], 'In the test', undefined]);
  });

  it('shows the recovery key only for a reason, which the event log has', async () => {
    const page = await browser.open(path('recovery-key'));
    await page.getByLabel('Reason').fill('Ticket 4711');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('There is no recovery key for this computer.').waitFor();
    await page.getByRole('tab', { name: 'Summary' }).click();
    await page.getByRole('tab', { name: 'Recovery key' }).click();
    await page.getByLabel('Reason').waitFor();
    const { data } = await browser.api.request('GET', '/events');
    expect(JSON.stringify(data)).toContain(`the recovery key of the computer ${computer.title}: Ticket 4711`);
  });

  it('shows work as it is done', async () => {
    const page = await browser.open(path('work'));
    await untilLoaded(page);
    const body = { action: 'refresh' as const, computer_ids: [computer.id], snaps: [{ name: 'core22' }] };
    const { data } = await browser.api.POST('/snaps', { body });
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="/activities/${data.id}"]`) });
    await expectText(row, /Succeeded|Failed/, WORK_MS);
    await page.getByRole('button', { name: 'Now and waiting' }).click();
    await row.waitFor({ state: 'hidden' });
  });

  it('finds packages, and opens the form of an action with the chosen ones', async () => {
    const page = await browser.open(path('packages'));
    await page.getByLabel('Search packages').fill('bash');
    await page.waitForURL('**search=bash**');
    await page.getByRole('checkbox', { name: 'Select bash', exact: true }).click();
    await page.getByRole('button', { name: 'Selected packages (1)' }).click();
    await page.getByRole('menuitem', { name: 'Hold…' }).click();
    await page.waitForURL('**/act/hold-packages?**');
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('ids'), searchParams.get('packages')]).toEqual([String(computer.id), 'bash']);
  });

  it('lists its users with their groups, and finds some by name', async () => {
    const page = await browser.open(path('users'));
    const users = page.getByRole('table', { name: 'Users' }).getByRole('row');
    await expectText(users.filter({ hasText: 'Ubuntu' }), /^ubuntuUbuntu1000sudo, ubuntu/);
    await expectText(users.filter({ hasText: 'landscape' }), /Locked/);
    await page.getByLabel('Search users').fill('LANDSC');
    await expect.poll(() => users.count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('search')).toBe('LANDSC');
    await page.reload();
    await expect.poll(() => users.count()).toBe(2);
    await page.getByLabel('Search users').fill('nobody like this');
    await page.getByText('No such users').waitFor();
  });

  it('shows the last result of each USG profile, and the audits by date with activity and report', async () => {
    const tags = ['audited-by-the-page'];
    const own = { path: { computer_id: computer.id } };
    await browser.api.PUT('/computers/{computer_id}', { params: own, body: { tags } });
    const { data: profile } = await browser.api.POST('/usg-profiles', {
      body: {
        title: 'Audit of the page',
        mode: 'audit',
        benchmark: 'cis_level1_server',
        schedule: 'FREQ=MONTHLY',
        start_date: '2040-01-01T00:00:00Z',
        access_group: 'global',
        all_computers: false,
        tags,
      },
    });
    const params = { path: { usg_profile_id: profile.id } };
    const page = await browser.open(path('compliance'));
    const rowOf = (table: Locator) => table.getByRole('row').filter({ hasText: profile.title });
    const last = rowOf(page.getByRole('region', { name: 'USG audits' }));
    const audit = rowOf(page.getByRole('table', { name: 'Audits by date' }));
    await expectText(last, /Never audited/);
    const { data: run } = await browser.api.POST('/usg-profiles/{usg_profile_id}:execute', { params, body: {} });
    await expectText(last, /(Passed.*All \d+ passed|Failed.*\d+ of \d+ failed)/, WORK_MS);
    await expectText(audit, /Audit(Passed|Failed)/);
    expect(await audit.getByRole('link').first().getAttribute('href')).toBe(`/activities/${run.id}`);
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download', { timeout: WORK_MS }),
      audit.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^usg_profile_audit_report_ID\d+-\d{8}T\d{6}Z-detailed\.csv$/);
    await browser.api.POST('/usg-profiles/{usg_profile_id}:archive', { params });
    await page.reload();
    await expectText(audit, /Audit(Passed|Failed)/);
    expect(await last.count()).toBe(0);
  });

  it.each(Object.entries(HOSTILE))('shows %s in a title as text, without breaking a page', async (_kind, title) => {
    const params = { path: { computer_id: computer.id } };
    await browser.api.PUT('/computers/{computer_id}', { params, body: { title, tags: ['w'.repeat(50)] } });
    const page = await browser.open(path(), { size: 'phone' });
    await expectText(heading(page), title);
    await expectNoSideways(page);
    for (const tab of ['hardware', 'packages', 'users', 'work', 'recovery-key']) {
      await page.goto(path(tab));
      await untilLoaded(page);
      await expectNoSideways(page);
    }
    await page.goto(`/computers?query=id:${computer.id}`);
    await expectText(page.getByRole('grid').getByRole('link'), title);
    await expectNoSideways(page);
    expect(await page.title()).toBe('Computers – Flotilla');
    expect(await page.locator('main img').count()).toBe(0);
    await browser.api.PUT('/computers/{computer_id}', { params, body: { title: computer.title } });
  });

  it('says so where there is no such computer', async () => {
    for (const id of ['999999', 'nothing', '99999999999999']) {
      const page = await browser.open(`/computers/${id}`);
      await page.getByText('There is no computer with this id').waitFor();
      await expectText(heading(page), 'Unknown computer');
    }
  });
});
