import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { ADMINISTRATOR, expectAccessible, expectNoSideways, expectText, useBrowser } from '../support/web/browser.ts';

describe('the pages of scripts', () => {
  const browser = useBrowser();

  it('create a script with a file, change it, compare its versions and restore one', async () => {
    const page = await browser.open('/scripts');
    await page.getByRole('link', { name: 'New script' }).click();
    await page.getByRole('heading', { level: 1, name: 'New script' }).waitFor();
    await page.getByLabel('Title').fill('Tidy the page');
    await page.getByLabel('Code').fill('no interpreter');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Code').getAttribute('aria-invalid')).toBe('true');

    await page.getByLabel('Code').fill('#!/bin/sh\nif true; then\n');
    await page.getByLabel('Code').press('Control+End');
    await page.getByLabel('Code').press('Tab');
    await page.getByLabel('Code').pressSequentially('echo tidy\nfi\n');
    await page.getByLabel('Attachments').setInputFiles({
      name: 'tidy.conf',
      mimeType: 'text/plain',
      buffer: Buffer.from('everything = true\n'),
    });
    await page.getByRole('button', { name: 'Remove tidy.conf' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tidy the page' }).waitFor();
    await expectText(page.getByRole('region', { name: 'Code' }), /\n {2}echo tidy\nfi$/);

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'tidy.conf' }).click(),
    ]);
    expect(await readFile(await file.path(), 'utf8')).toBe('everything = true\n');

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Code').fill('#!/bin/sh\necho another\n');
    await page.reload();
    expect(await page.getByLabel('Code').inputValue()).toContain('another');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Show version 1' }).click();
    await page.getByLabel('Compare with').selectOption({ label: 'Compared with version 2' });
    const changes = page.getByRole('region', { name: 'Changes from version 1 to version 2' });
    await expectText(changes, /Removed: {3}echo tidy.*Added: echo another/);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Show version 3' }).waitFor();
    await expectText(page.getByRole('region', { name: 'Code' }), 'echo tidy');
    await page.setViewportSize({ width: 400, height: 800 });
    await expectNoSideways(page);
  });

  it('keep chosen files across a reload and a lost session, until the script is saved', async () => {
    const page = await browser.open('/scripts/new');
    await page.getByLabel('Title').fill('Script with kept files');
    const file = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') });
    await page.getByLabel('Attachments').setInputFiles([file('kept.conf', 2345), file('other.conf', 7)]);
    await page.getByText('new, 2.3 kB').waitFor();
    await expect.poll(() => keptKeys(page)).toHaveLength(1);
    const [both] = await keptKeys(page);
    await page.getByRole('button', { name: 'Remove other.conf' }).click();
    await expect.poll(() => keptKeys(page)).toEqual([expect.not.stringContaining(both!)]);
    await page.reload();
    await page.getByText('new, 2.3 kB').waitFor();
    expect(await page.getByRole('button', { name: /^Remove / }).count()).toBe(1);

    await page.context().clearCookies();
    await page.reload();
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    await page.getByRole('button', { name: 'Remove kept.conf' }).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Script with kept files' }).waitFor();
    const params = { path: { script_id: Number(page.url().split('/').at(-1)) } };
    const { attachments } = (await browser.api.GET('/scripts/{script_id}', { params })).data;
    expect(attachments.map(({ filename }) => filename)).toEqual(['kept.conf']);
    expect(await keptKeys(page)).toEqual([]);
    await page.goto('/scripts/new');
    expect(await page.getByLabel('Title').inputValue()).toBe('');
    expect(await page.getByRole('button', { name: /^Remove / }).count()).toBe(0);
  });

  it('keep neither files that the server does not take nor those of yesterday', async () => {
    const page = await browser.open('/scripts/new');
    const large = { name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(1_000_001) };
    await page.getByLabel('Attachments').setInputFiles(large);
    await page.getByText('new, 1,000 kB').waitFor();
    await page.getByLabel('Title').fill('Large');
    await page.getByRole('button', { name: 'Create' }).click();
    await expectText(page.getByRole('alert'), 'more than 1000000 bytes');
    expect(await keptKeys(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove large.bin' }).click();
    await page.getByLabel('Attachments').setInputFiles({ ...large, name: 'small.bin', buffer: Buffer.alloc(5) });
    await expect.poll(() => keptKeys(page)).toHaveLength(1);
    await page.clock.setSystemTime(Date.now() + 25 * 3_600_000);
    await page.reload();
    await expect.poll(() => keptKeys(page)).toEqual([]);
    expect(await page.getByRole('button', { name: /^Remove / }).count()).toBe(0);
  });

  it('take files where the browser cannot keep them', async () => {
    const page = await browser.newPage();
    await page.addInitScript("Object.defineProperty(window, 'indexedDB', { value: undefined })");
    await page.goto('/scripts/new');
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    await page.getByLabel('Title').fill('Script without kept files');
    const file = { name: 'lost.conf', mimeType: 'text/plain', buffer: Buffer.from('lost') };
    await page.getByLabel('Attachments').setInputFiles(file);
    await page.getByText('new, 4 bytes').waitFor();
    await page.reload();
    expect(await page.getByLabel('Title').inputValue()).toBe('Script without kept files');
    expect(await page.getByText('lost.conf').count()).toBe(0);
    await page.getByLabel('Attachments').setInputFiles({ ...file, name: 'sent.conf' });
    await page.getByText('new, 4 bytes').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'sent.conf' }).waitFor();
  });

  it('do not overwrite what someone else has changed in the meantime', async () => {
    const path = await create('Shared script');
    const page = await browser.open(`${path}?edit=true`);
    await page.getByLabel('Title').fill('My title');
    const params = { path: { script_id: Number(path.split('/').at(-1)) } };
    await browser.api.PATCH('/scripts/{script_id}', { params, body: { title: 'Their title' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await expectText(page.getByRole('alert'), 'has changed this script since you opened it');
    expect((await browser.api.GET('/scripts/{script_id}', { params })).data.title).toBe('Their title');
  });

  it('archive a script, and redact it once its title is typed', async () => {
    const page = await browser.open(await create('Script to end'));
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('Archived', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Run' }).count()).toBe(0);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: /^Redact/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Redact' }).click();
    await expectText(dialog.getByRole('alert'), 'Type the title');
    await dialog.getByLabel('Title of the script').fill('Script to end');
    await dialog.getByRole('button', { name: 'Redact' }).click();
    await page.getByText('The code has been deleted.').waitFor();
  });

  async function create(title: string): Promise<string> {
    const { data } = await browser.api.POST('/scripts', {
      body: { title, code: '#!/bin/sh\ntrue\n', username: 'root', access_group: 'global' },
    });
    return `/scripts/${data.id}`;
  }
});

/** What the browser keeps of the page's forms, by its keys. */
function keptKeys(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`new Promise((resolve, reject) => {
    const opened = indexedDB.open('flotilla');
    opened.onerror = () => reject(opened.error);
    opened.onsuccess = () => {
      const keys = opened.result.transaction('kept').objectStore('kept').getAllKeys();
      opened.result.close();
      keys.onsuccess = () => resolve(keys.result);
    };
  })`);
}
