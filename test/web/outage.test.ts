import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStack, type TestStack } from '../../tools/harness/stack.ts';
import { signIn } from '../../tools/harness/chromium.ts';
import { ADMINISTRATOR, useBrowser } from '../support/web/browser.ts';

const PASSWORD = 'Outage-4711-of-the-API';
const TIMEOUT_MS = 180_000;

describe('a page whose server is killed', { timeout: TIMEOUT_MS }, () => {
  const browser = useBrowser();
  let stack: TestStack;

  beforeAll(async () => {
    stack = await createStack({
      FLOTILLA_ADMIN_PASSWORD: PASSWORD,
      FLOTILLA_SIMULATED_COMPUTERS: '3',
      FLOTILLA_WEB_PAGE: 'true',
    });
    await stack.start();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await stack?.dispose();
  }, 60_000);

  const interruption = (page: Page) => page.getByRole('status').filter({ hasText: 'Live updates are interrupted' });

  it('reports it, keeps what was typed, and goes on by itself', async () => {
    const page = await browser.newPage({ url: stack.url });
    await page.goto('/computers');
    const stream = page.waitForResponse(/events:stream/);
    await signIn(page, ADMINISTRATOR, PASSWORD);
    await stream;
    await page.getByLabel('Query').fill('tag:typed');
    await stack.kill('api');
    await interruption(page).waitFor();
    await interruption(page).waitFor({ state: 'detached', timeout: 60_000 });
    expect(await page.getByLabel('Query').inputValue()).toBe('tag:typed');
    // Its suggestions cover the rest of the page.
    await page.getByLabel('Query').press('Escape');
    await page.getByRole('link', { name: 'Activities', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
  });
});
