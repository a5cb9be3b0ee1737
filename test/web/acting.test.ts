import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ACTIONS } from '../../web/src/acting/actions.ts';
import { expectAccessible, expectNoSideways, useBrowser, WORK_MS } from '../support/web/browser.ts';
import { actingWith } from '../support/web/computers.ts';

const HOSTILE = `<img src=x onerror="document.title='owned'"> \u202Eevil ${'x'.repeat(180)}`;

/** One of each kind: the rules take seconds. */
const AXE = ['install-snaps', 'upgrade-kernel', 'run-script', 'annotate', 'sanitize'];

describe('acting on computers', () => {
  const browser = useBrowser();
  const { computers, act } = actingWith(browser);

  it('installs a snap on five computers, once for a double click, and reverts it', async () => {
    const chosen = await computers(5);
    const page = await browser.open('/computers');
    const responses = watchPosts(page);
    for (const { title } of chosen) await page.getByRole('checkbox', { name: `Select ${title}`, exact: true }).check();
    await page.getByRole('button', { name: 'Actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Install snaps' }).click();
    await page.getByRole('heading', { level: 1, name: 'Install snaps' }).waitFor();
    await page.getByRole('heading', { name: '5 computers' }).waitFor();
    for (const { title } of chosen) await page.getByRole('listitem').getByText(title, { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Snaps' }).fill('hello');
    await page.getByRole('button', { name: 'Install', exact: true }).dblclick();
    await hasSucceeded(page);
    expect(responses).toEqual([200]);
    const installed = page.url();
    await page.getByRole('button', { name: 'Revert', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revert', exact: true }).click();
    await page.waitForURL((url) => url.href !== installed);
    await hasSucceeded(page);
  });

  it('restarts several computers only when their number is typed', async () => {
    const ids = (await computers(3)).map(({ id }) => id);
    const page = await act('restart', ids);
    const restart = page.getByRole('button', { name: 'Restart', exact: true });
    expect(await restart.isDisabled()).toBe(true);
    await page.getByLabel('Number of computers').fill('2');
    expect(await restart.isDisabled()).toBe(true);
    await page.getByLabel('Number of computers').fill('3');
    const responses = watchPosts(page);
    await restart.click();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(responses).toEqual([200, 200, 200]);
  });

  it('keeps the form while the session has ended, and sends it once', async () => {
    const [computer] = await computers(1);
    const page = await act('install-snaps', [computer!.id]);
    await page.getByRole('combobox', { name: 'Snaps' }).fill('hello');
    await page.getByLabel('Channel').fill('latest/edge');
    const responses = watchPosts(page);
    // With the request, so that nothing else learns of it before.
    await page.route(
      '**/api/v2/snaps',
      async (route) => {
        await page.context().clearCookies();
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Install', exact: true }).dblclick();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill(browser.stack.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByRole('combobox', { name: 'Snaps' }).inputValue()).toBe('hello');
    expect(await page.getByLabel('Channel').inputValue()).toBe('latest/edge');
    expect(responses).toEqual([401]);
    await page.getByRole('button', { name: 'Install', exact: true }).dblclick();
    await page.waitForURL(/\/activities\/\d+$/);
    expect(responses).toEqual([401, 200]);
  });

  it('finds computers by a query when it is opened without any', async () => {
    const [computer] = await computers(1);
    const page = await browser.open('/act/restart');
    await page.getByLabel('Query').fill(`title:${computer!.title}`);
    await page.getByRole('button', { name: 'Find computers' }).click();
    await page.getByRole('heading', { name: '1 computer', exact: true }).waitFor();
    await page.getByRole('listitem').getByText(computer!.title, { exact: true }).waitFor();
  });

  it('keeps what was typed through a reload, and leaves out a computer', async () => {
    const [first, second] = await computers(2);
    const page = await act('add-tags', [first!.id, second!.id]);
    await page.getByRole('combobox', { name: 'Tags' }).fill('kept');
    await page.getByRole('button', { name: `Leave out ${first!.title}` }).click();
    await page.reload();
    await page.getByRole('heading', { name: '1 computer', exact: true }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Tags' }).inputValue()).toBe('kept');
  });

  it('adds tags, and takes them back', async () => {
    const ids = (await computers(2)).map(({ id }) => id);
    const tagsOf = async () => (await computers(2)).map(({ tags }) => tags.includes('page-test'));
    await browser.api.POST('/computers:add-tags', { body: { query: `id:${ids[0]}`, tags: ['page-test'] } });
    const page = await act('add-tags', ids);
    await page.getByRole('combobox', { name: 'Tags' }).fill('page-test');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await tagsOf()).toEqual([true, true]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone on').waitFor();
    expect(await tagsOf()).toEqual([true, false]);
  });

  it('shows what the server refuses at its field', async () => {
    const [computer] = await computers(1);
    const page = await act('install-snaps', [computer!.id]);
    await page.getByRole('combobox', { name: 'Snaps' }).fill('-bad');
    await page.getByText('More options').click();
    await page.getByLabel('Spread over minutes').fill('9999');
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    await page.getByRole('alert').waitFor();
    for (const field of [page.getByRole('combobox', { name: 'Snaps' }), page.getByLabel('Spread over minutes')]) {
      expect(await field.getAttribute('aria-invalid')).toBe('true');
    }
    await page.getByText('must be the name of a snap').waitFor();
  });

  it('shows hostile names as text', async () => {
    // The page of a computer is tested with the twelfth.
    const computer = (await computers(11)).at(-1)!;
    const path = { computer_id: computer.id };
    await browser.api.PUT('/computers/{computer_id}', { params: { path }, body: { title: HOSTILE } });
    try {
      const page = await act('sanitize', [computer.id], 'phone');
      await page.getByRole('listitem').getByText(HOSTILE, { exact: true }).waitFor();
      expect(await page.title()).toBe('Sanitize – Flotilla');
      expect(await page.getByRole('main').locator('img').count()).toBe(0);
      await expectNoSideways(page);
      await page.getByLabel('Title of the computer').fill(HOSTILE);
      expect(await page.getByRole('button', { name: 'Sanitize', exact: true }).isEnabled()).toBe(true);
    } finally {
      await browser.api.PUT('/computers/{computer_id}', { params: { path }, body: { title: computer.title } });
    }
  });

  it('has a form for every action, without violations of accessibility rules', async () => {
    const [computer] = await computers(1);
    const page = await browser.open('/');
    for (const { id, label, verb } of ACTIONS) {
      await page.goto(`/act/${id}?ids=${computer!.id}`);
      await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor();
      await page.getByRole('button', { name: verb, exact: true }).waitFor();
      if (AXE.includes(id)) await expectAccessible(page);
    }
  });
});

/** The statuses of the responses to actions on a page, as they come. */
function watchPosts(page: Page): number[] {
  const statuses: number[] = [];
  page.on('response', (response) => {
    const isAction = response.request().method() === 'POST' && /\/(snaps|restart)$/.test(response.url());
    if (isAction) statuses.push(response.status());
  });
  return statuses;
}

async function hasSucceeded(page: Page): Promise<void> {
  await page.waitForURL(/\/activities\/\d+$/);
  await page
    .getByRole('status')
    .filter({ hasText: /^Succeeded$/ })
    .waitFor({ timeout: WORK_MS });
}
