import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ADMINISTRATOR, expectAccessible, useBrowser, WORK_MS } from '../support/web/browser.ts';

const MAX_TABS = 80;

describe('the keyboard alone', () => {
  const browser = useBrowser();

  it('signs in, finds a computer, installs a snap on it, follows that and signs out', {
    timeout: 3 * WORK_MS,
  }, async () => {
    const { data } = await browser.api.GET('/computers', { params: { query: { limit: 1 } } });
    const { title } = data.results[0]!;
    const page = await browser.newPage();
    await page.goto('/');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await tabTo(page, (focus) => focus.label === 'Email');
    await page.keyboard.type(ADMINISTRATOR);
    await tabTo(page, (focus) => focus.label === 'Password');
    await page.keyboard.type(browser.stack.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();

    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Computers' }).waitFor();
    await tabTo(page, (focus) => focus.label === 'Query');
    await page.keyboard.type(`title:${title}`);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('checkbox', { name: /^Select / }).count()).toBe(2);
    await tabTo(page, (focus) => focus.role === 'grid');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();

    await tabTo(page, (focus) => focus.text === 'Actions');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Install snaps' }).waitFor();
    await page.keyboard.type('Install s');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Install', exact: true }).waitFor();
    await tabTo(page, (focus) => focus.label === 'Snaps');
    await page.keyboard.type('hello');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/activities\/\d+$/);
    await page
      .getByRole('status')
      .filter({ hasText: /^Succeeded$/ })
      .waitFor({ timeout: WORK_MS });

    await tabTo(page, (focus) => focus.text === 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('reaches pages, computers and actions by Ctrl+K', async () => {
    const { data } = await browser.api.GET('/computers', { params: { query: { limit: 1 } } });
    const { title } = data.results[0]!;
    const page = await browser.open('/');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search or jump to' });
    await field.waitFor();
    await expectAccessible(page);
    await page.keyboard.type('activit');
    await page.getByRole('option', { name: 'Activities' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(await field.count()).toBe(0);

    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type(`title:${title}`);
    await page.getByRole('option', { name: title, exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();

    await page.getByRole('button', { name: 'Actions', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type('restart');
    await page.getByRole('option', { name: 'Restart' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Restart' }).waitFor();
    await page.getByRole('button', { name: 'Restart', exact: true }).waitFor();
  });

  it('lists its shortcuts, but not while a field has the focus', async () => {
    const page = await browser.open('/');
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor();
    await page.keyboard.type('g?gc');
    expect(await page.getByRole('combobox').inputValue()).toBe('g?gc');
    expect(new URL(page.url()).pathname).toBe('/');
  });
});

/** What has the focus. */
interface Focus {
  label: string;
  text: string;
  role: string;
}

/** Presses Tab until the right element has the focus. */
async function tabTo(page: Page, isRight: (focus: Focus) => boolean): Promise<void> {
  const passed: string[] = [];
  for (let pressed = 0; pressed < MAX_TABS; pressed++) {
    await page.keyboard.press('Tab');
    // The body may have the focus, which no locator finds.
    const focus = await page.evaluate<Focus>(`(() => {
      const element = document.activeElement;
      return {
        label: (element.labels?.[0]?.textContent ?? element.getAttribute('aria-label') ?? '').trim(),
        text: element.textContent.trim(),
        role: element.getAttribute('role') ?? '',
      };
    })()`);
    if (isRight(focus)) return;
    passed.push(focus.label || focus.text.slice(0, 40));
  }
  throw new Error(`Tab only reached ${passed.join(', ')}`);
}
