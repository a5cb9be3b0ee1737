import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNoSideways,
  expectText,
  untilLoaded,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';

const TAILORING = `<?xml version="1.0" encoding="UTF-8"?>
<xccdf:Tailoring xmlns:xccdf="http://checklists.nist.gov/xccdf/1.2" id="t"><xccdf:Profile id="p"><xccdf:title>Ünser</xccdf:title></xccdf:Profile></xccdf:Tailoring>
`;
const fileOf = (text: string) => ({ name: 'own.xml', mimeType: 'text/xml', buffer: Buffer.from(text) });

const HOSTILE = `<img src=x onerror="document.title='harmed'"> \u202eright to left ${'long '.repeat(30)}`;

/** Waits until the first items show texts. */
async function expectTexts(items: Locator, ...texts: RegExp[]): Promise<void> {
  for (const [index, text] of texts.entries()) await expectText(items.nth(index), text);
}

async function expectTitles(items: Locator, ...titles: RegExp[]): Promise<void> {
  for (const [index, title] of titles.entries()) {
    expect(await items.nth(index).getByRole('time').getAttribute('title')).toMatch(title);
  }
}

describe('the pages of profiles', () => {
  const browser = useBrowser();
  const script = async (title: string): Promise<number> =>
    (
      await browser.api.POST('/scripts', {
        body: { title, code: '#!/bin/sh\ntrue\n', username: 'root', access_group: 'global' },
      })
    ).data.id;

  it('create a USG profile, show errors at their fields, run it, and show its results and its report', async () => {
    const page = await browser.open('/profiles');
    await page.getByRole('button', { name: 'New profile' }).click();
    await page.getByRole('menuitem', { name: /^USG profile/ }).click();
    await page.getByRole('heading', { level: 1, name: 'New USG profile' }).waitFor();
    await page.getByLabel('Title').fill('Baseline of the page');
    await page.getByLabel('All computers of the access group global').check();
    await expectText(page.getByRole('group', { name: 'Computers' }), '12 computers now');
    await page.getByLabel('Repeat').selectOption({ label: 'By a rule (RFC 5545)' });
    await page.getByLabel('Rule').fill('FREQ=DAILY');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Rule').getAttribute('aria-invalid')).toBe('true');

    await page.reload();
    expect(await page.getByLabel('Title').inputValue()).toBe('Baseline of the page');
    await page.getByLabel('Repeat').selectOption({ label: 'Monthly' });
    await page.getByLabel('Which').selectOption({ label: 'last' });
    await page.getByLabel('Weekday', { exact: true }).selectOption({ label: 'Friday' });
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Baseline of the page' }).waitFor();
    await page.getByText(/^Every month on the last Friday/).waitFor();
    await untilLoaded(page);
    const address = page.url();
    expect(await page.getByRole('listitem').count()).toBe(5);

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/activities\/\d+$/);
    const activity = Number(page.url().split('/').at(-1));
    await browser.api.waitFor(activity);
    await page.goto(address);
    const run = page.getByRole('table', { name: 'Runs' }).getByRole('row').nth(1);
    await expectText(run, /(Passing|Failing)Person12/, WORK_MS);
    expect(await run.getByRole('link').getAttribute('href')).toBe(`/activities/${activity}`);

    await page.getByText('Show as a table').click();
    await page.getByRole('rowheader').first().waitFor();
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download', { timeout: WORK_MS }),
      page.getByRole('button', { name: 'Download report' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^usg_profile_audit_report_ID\d+-\d{8}\.csv$/);
  });

  it('keep a tailoring file across a reload, and send it', async () => {
    const page = await browser.open('/profiles/usg/new');
    await page.getByLabel('Title').fill('Tailored');
    await page.getByLabel('Benchmark').selectOption('custom');
    const buffer = Buffer.from('<Tailoring>kept</Tailoring>');
    await page.getByLabel('Tailoring file').setInputFiles({ name: 'tailoring.xml', mimeType: 'text/xml', buffer });
    await page.getByText('new, 27 bytes').waitFor();
    await page.reload();
    await page.getByText('new, 27 bytes').waitFor();
    await page.getByLabel('All computers of the access group global').check();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied as curl').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(buffer.toString());
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tailored' }).waitFor();
    await page.goto('/profiles/usg/new');
    await page.getByLabel('Benchmark').selectOption('custom');
    await page.getByLabel('Tailoring file').setInputFiles({ name: 'another.xml', mimeType: 'text/xml', buffer });
    await page.getByRole('button', { name: 'Remove another.xml' }).click();
    await page.reload();
    await page.getByLabel('Tailoring file').waitFor();
    expect(await page.getByText('.xml').count()).toBe(0);
  });

  it('create a USG profile of a tailoring file, which stays as it is', async () => {
    const page = await browser.open('/profiles/usg/new');
    await page.getByLabel('Title').fill('Tailored on the page');
    await page.getByLabel('Benchmark').selectOption({ label: 'Tailoring file' });
    await page.getByLabel('Tags').fill('nowhere');
    await page.getByLabel('Tailoring file', { exact: true }).setInputFiles(fileOf('<Tailoring><a></Tailoring>'));
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Tailoring file', { exact: true }).getAttribute('aria-invalid')).toBe('true');

    await page.getByLabel('Tailoring file', { exact: true }).setInputFiles(fileOf(TAILORING));
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tailored on the page' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Tailoring file' }).click(),
    ]);
    expect(await readFile(await file.path(), 'utf8')).toBe(TAILORING);
    const params = { path: { usg_profile_id: Number(page.url().split('/').at(-1)) } };
    const { tailoring_file_uri } = (await browser.api.GET('/usg-profiles/{usg_profile_id}', { params })).data;
    const blob = { params: { query: { path: tailoring_file_uri! } } };
    expect((await browser.api.GET('/usg-profiles/blob', blob)).data).toMatchObject({ file_content: TAILORING });
  });

  it('create, change and archive a script profile', async () => {
    await script('Script of the page');
    const page = await browser.open('/profiles/script/new');
    await page.getByLabel('Title').fill('Weekly script');
    await page.getByLabel('Script', { exact: true }).selectOption({ label: 'Script of the page' });
    await page.getByRole('button', { name: 'web', exact: true }).click();
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('Repeat').selectOption({ label: 'On days of the week' });
    await page.getByRole('button', { name: 'Fri' }).click();
    await page.getByLabel('Time of day').fill('03:15');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Every Mon, Fri at 03:15 (Europe/Berlin)').waitFor();
    await expectText(page.getByRole('listitem').first(), /(Mon|Fri) .* 03:15$/);

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Repeat').selectOption({ label: 'Every few hours' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Every 6 hours at minute 0 (Europe/Berlin)').waitFor();

    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('It does not run again.').waitFor();
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  });

  it('show the next dates of a USG profile while it is filled in, and the same when it is saved', async () => {
    const page = await browser.open('/profiles/usg/new');
    const next = page.getByRole('region', { name: 'Next dates' });
    const dates = next.getByRole('listitem');
    await page.getByLabel('Title').fill('Profile with dates');
    await page.getByLabel('Time zone').fill('America/New_York');
    await page.getByLabel('First run').fill('2095-03-01T03:30');
    await expectTexts(dates, /^Tue 2095-03-01 03:30$/, /^Mon 2095-03-14 03:30$/);
    await page.getByLabel('Repeat').selectOption({ label: 'Monthly' });
    await page.getByLabel('Which').selectOption({ label: 'last' });
    await expectTexts(dates, /^Tue 2095-03-01 03:30$/, /^Mon 2095-03-28 03:30$/);
    // Clocks are set forward on 13 March there.
    await expectTitles(dates, /2095-03-01 08:30:00 UTC$/, /2095-03-28 07:30:00 UTC$/);
    const shown = await dates.allTextContents();
    expect(shown).toHaveLength(5);

    await page.getByLabel('Repeat').selectOption({ label: 'By a rule (RFC 5545)' });
    const rule = page.getByLabel('Rule');
    await rule.fill('FREQ=MONTHLY;BYDAY=-1');
    await expect.poll(() => rule.getAttribute('aria-invalid')).toBe('true');
    expect(await dates.allTextContents()).toEqual(shown);
    await expectAccessible(page);
    await rule.fill('FREQ=MONTHLY;BYDAY=-1FR;COUNT=3');
    await expect.poll(() => dates.count()).toBe(3);
    expect(await rule.getAttribute('aria-invalid')).toBeNull();
    const last = await dates.allTextContents();

    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile with dates' }).waitFor();
    await expect.poll(() => page.getByRole('listitem').allTextContents()).toEqual(last);
  });

  it('show the next dates of a script profile while it is changed, and the same when it is saved', async () => {
    const id = await script('Script with dates');
    const fields = { title: 'Script profile with dates', all_computers: false, tags: ['nowhere'], time_limit: 60 };
    const trigger = { trigger_type: 'recurring', start_after: '2095-01-01', interval: '0 2 * * *' } as const;
    const body = { ...fields, script_id: id, username: 'root', timezone: 'Asia/Tokyo', trigger };
    const profile = (await browser.api.POST('/script-profiles', { body })).data;
    const page = await browser.open(`/profiles/script/${profile.id}/edit`);
    const next = page.getByRole('region', { name: 'Next dates' });
    const dates = next.getByRole('listitem');
    await expectTexts(dates, /^Sun 2095-01-02 02:00$/, /^Mon 2095-01-03 02:00$/);
    await page.getByLabel('Repeat').selectOption({ label: 'Every few hours' });
    await expectTexts(dates, /^Sat 2095-01-01 12:00$/, /^Sat 2095-01-01 18:00$/);
    await page.getByLabel('Every (hours)').fill('8');
    await expectTexts(dates, /^Sat 2095-01-01 16:00$/, /^Sun 2095-01-02 00:00$/);
    const shown = await dates.allTextContents();
    await page.getByLabel('Every (hours)').fill('');
    await page.getByLabel('Runs', { exact: true }).selectOption({ label: 'When a computer is enrolled' });
    await next.waitFor({ state: 'detached' });
    await page.getByLabel('Runs', { exact: true }).selectOption({ label: 'Once' });
    await page.getByLabel('Date and time').fill('2095-06-01T12:00');
    await expect.poll(() => dates.allTextContents()).toEqual(['Wed 2095-06-01 12:00']);
    await page.getByLabel('Runs', { exact: true }).selectOption({ label: 'On a schedule' });
    await page.getByLabel('Every (hours)').fill('8');
    await expect.poll(() => dates.allTextContents()).toEqual(shown);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Every 8 hours at minute 0 (Asia/Tokyo)').waitFor();
    await expect.poll(() => page.getByRole('listitem').allTextContents()).toEqual(shown);
  });

  it('list both kinds by what the URL says, and show hostile titles as text', async () => {
    const id = await script('Script of a hostile profile');
    const trigger = { trigger_type: 'event', event_type: 'post_enrollment' } as const;
    const fields = { all_computers: false, tags: ['nowhere'], time_limit: 60, username: 'root' };
    const title = HOSTILE.trim();
    await browser.api.POST('/script-profiles', { body: { ...fields, title, script_id: id, trigger } });
    const page = await browser.open('/profiles?kind=script&search=onerror');
    await titles(page).waitFor();
    expect(await titles(page).textContent()).toBe(title);
    expect(await page.title()).toBe('Profiles – Flotilla');
    await page.getByLabel('Kind').selectOption({ label: 'USG' });
    await page.getByText('No profile matches').waitFor();
    expect(new URL(page.url()).searchParams.get('kind')).toBe('usg');
    await page.goBack();
    await page.goto('/profiles?kind=script&search=onerror');
    await titles(page).click();
    await page.getByRole('heading', { level: 1, name: 'right to left' }).waitFor();
    await page.setViewportSize({ width: 400, height: 800 });
    await expectNoSideways(page);
    await expectAccessible(page);
  });

  const titles = (page: Page) => page.getByRole('table', { name: 'Profiles' }).getByRole('link');
});
