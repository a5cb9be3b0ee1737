import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectNoSideways, expectText, useBrowser } from '../support/web/browser.ts';
import { enrolledComputers } from '../support/web/computers.ts';

const grid = (page: Page) => page.getByRole('grid', { name: 'Computers' });
const queryField = (page: Page) => page.getByRole('combobox', { name: 'Query' });
const rowOf = (page: Page, title: string) => grid(page).getByRole('row').filter({ hasText: title });

describe('Computers', () => {
  const browser = useBrowser();
  let computers: Array<{ id: number; title: string }>;

  beforeAll(async () => {
    computers = await enrolledComputers(browser.api);
    const query = `id:${computers[0]!.id} OR id:${computers[1]!.id}`;
    await browser.api.POST('/computers:add-tags', { body: { query, tags: ['web-test'] } });
  });

  it('completes a query, keeps it in the URL, and opens a computer by the keyboard', async () => {
    const page = await browser.open('/computers');
    await expectText(page.getByRole('status').filter({ hasText: 'computers' }), `${computers.length} computers`);
    await queryField(page).pressSequentially('tag:web-t');
    await page.getByRole('option', { name: 'web-test' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toBe('tag:web-test');
    await expect
      .poll(() => grid(page).getByRole('link').allTextContents())
      .toEqual([computers[0]!.title, computers[1]!.title]);
    await page.reload();
    expect(await queryField(page).inputValue()).toBe('tag:web-test');
    await rowOf(page, computers[1]!.title).waitFor();
    await grid(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: computers[1]!.title, exact: true }).waitFor();
    await page.goBack();
    await expect.poll(() => queryField(page).inputValue()).toBe('tag:web-test');
  });

  it('shows what is wrong with a query where it is, above the computers found before', async () => {
    const page = await browser.open('/computers?query=tag:web-test');
    await rowOf(page, computers[0]!.title).waitFor();
    await queryField(page).fill('web id:abc');
    await queryField(page).press('Enter');
    const fault = page.getByRole('alert');
    await expectText(fault, /Expected a non-negative integer after id:/);
    expect(await fault.locator('mark').textContent()).toBe('id:abc');
    expect(await grid(page).getByRole('link').count()).toBe(2);
    await expectAccessible(page);
  });

  it('saves a query, uses, renames and deletes it', async () => {
    const page = await browser.open('/computers?query=tag:web-test');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'Saved searches' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Save this query…');
    await page.getByLabel('Title').fill('Under test');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await expect.poll(() => grid(page).getByRole('link').count()).toBeGreaterThan(2);
    await choose('Under test');
    await expect.poll(() => grid(page).getByRole('link').count()).toBe(2);
    await choose('Rename or delete…');
    const item = page.getByRole('listitem').filter({ hasText: 'tag:web-test' });
    await item.getByRole('button', { name: 'Rename' }).click();
    await item.getByLabel('Title').fill('Renamed');
    await item.getByRole('button', { name: 'Rename' }).click();
    await item.getByText('Renamed', { exact: true }).waitFor();
    await item.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog', { name: 'Delete the saved search Renamed?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await item.waitFor({ state: 'hidden' });
    await expect.poll(async () => (await browser.api.GET('/saved-searches')).data.results).toEqual([]);
  });

  it('selects single computers, ranges, and all that the query finds but some', async () => {
    const page = await browser.open('/computers');
    const status = page.getByRole('status').filter({ hasText: 'computers' });
    const box = (index: number) =>
      page.getByRole('checkbox', { name: `Select ${computers[index]!.title}`, exact: true });
    await box(1).click();
    await box(4).click({ modifiers: ['Shift'] });
    await expectText(status, /, 4 selected$/);
    await page.getByRole('button', { name: `Select all ${computers.length}` }).click();
    await expectText(status, new RegExp(`, ${computers.length} selected$`));
    await box(0).click();
    await expectText(status, new RegExp(`, ${computers.length - 1} selected$`));
    await page.reload();
    await expectText(status, new RegExp(`, ${computers.length - 1} selected$`));
    expect([await box(0).isChecked(), await box(1).isChecked()]).toEqual([false, true]);
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await grid(page).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await expectText(status, /, 2 selected$/);
    expect(await box(0).isChecked()).toBe(true);
    await page.reload();
    await expectText(status, /, 2 selected$/);
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await navigation.getByRole('link', { name: 'Computers' }).click();
    await expectText(status, /computers$/);
  });

  it('keeps the chosen columns, in the URL and in this browser', async () => {
    const page = await browser.open('/computers');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Hostname' }).click();
    await page.keyboard.press('Escape');
    await grid(page).getByRole('columnheader', { name: 'Hostname' }).waitFor();
    expect(new URL(page.url()).searchParams.get('columns')).toContain('hostname');
    await page.goto('/computers');
    await grid(page).getByRole('columnheader', { name: 'Hostname' }).waitFor();
  });

  it('shows changes as they happen, also on a phone', async () => {
    const page = await browser.open('/computers', { size: 'phone' });
    await rowOf(page, computers[2]!.title).waitFor();
    await expectNoSideways(page);
    const query = `id:${computers[2]!.id}`;
    await browser.api.POST('/computers:add-tags', { body: { query, tags: ['just-now'] } });
    await rowOf(page, computers[2]!.title).filter({ hasText: 'just-now' }).waitFor();
    await browser.api.POST('/computers:remove-tags', { body: { query, tags: ['just-now'] } });
  });
});
