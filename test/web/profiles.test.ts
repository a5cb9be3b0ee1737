import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNoSideways,
  expectText,
  untilLoaded,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';

const HOSTILE = `<img src=x onerror="document.title='harmed'"> \u202eright to left ${'long '.repeat(30)}`;

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
