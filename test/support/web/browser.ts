import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { createClient, type FlotillaClient } from '../../../packages/client/src/index.ts';
import { launchChromium, signIn } from '../../../tools/harness/chromium.ts';
import { runService } from '../common/process.ts';
import { startWebStack, type WebStack } from './services.ts';

export const ADMINISTRATOR = 'admin@example.com';
/** How long a test waits for what a computer has to do: actions of other tests on the same computer come first. */
export const WORK_MS = 120_000;
const LIMIT_MS = 20_000;
const SIZES = { desk: { width: 1400, height: 900 }, phone: { width: 400, height: 800 } };

interface PageOptions {
  size?: keyof typeof SIZES;
  theme?: 'light' | 'dark';
  /** Whether the person uses their fingers. */
  hasTouch?: boolean;
}

/** A browser of a test file, with pages of one stack. A test fails when one of its pages reports an error. */
export interface TestBrowser {
  readonly stack: WebStack;
  /** As the administrator, to prepare what a test needs. */
  readonly api: FlotillaClient;
  /** A page of a new person: without cookies. */
  newPage(options?: PageOptions & { url?: string }): Promise<Page>;
  /** A page on which the administrator is signed in, at a path. */
  open(path: string, options?: PageOptions): Promise<Page>;
}

/**
 * Starts a browser for the tests of a file, and closes it after them.
 * @param ownSettings - of a stack of the file's own, for what would disturb other files; all others share one
 */
export function useBrowser(ownSettings?: () => Promise<Record<string, string>>): TestBrowser {
  vi.setConfig({ testTimeout: 3 * WORK_MS });
  let browser: Browser;
  let stack: WebStack;
  let api: FlotillaClient;
  let errors: string[] = [];
  let stopOwn: (() => Promise<void>) | null = null;
  beforeAll(async () => {
    if (ownSettings) ({ value: stack, stop: stopOwn } = await startWebStack(await ownSettings()));
    else stack = await runService<WebStack>('web-stack');
    api = createClient({ url: stack.url, credentials: { email: ADMINISTRATOR, password: stack.password } });
    browser = await launchChromium();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    const reported = errors;
    errors = [];
    expect(reported).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await stopOwn?.();
  });
  const newPage: TestBrowser['newPage'] = async ({
    size = 'desk',
    theme = 'light',
    hasTouch = false,
    url = stack.url,
  } = {}) => {
    const context = await browser.newContext({
      viewport: SIZES[size],
      colorScheme: theme,
      hasTouch,
      baseURL: url,
      locale: 'en-US',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(LIMIT_MS);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message.text())) errors.push(message.text());
    });
    return page;
  };
  return {
    get stack() {
      return stack;
    },
    get api() {
      return api;
    },
    newPage,
    async open(path, options) {
      const page = await newPage(options);
      await page.goto(path);
      await signIn(page, ADMINISTRATOR, stack.password);
      return page;
    },
  };
}

/** Waits until a page has its heading, and nothing on it is being loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count(), { timeout: LIMIT_MS }).toBe(0);
}

/** Expects no violation of accessibility rules, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.locator('html').evaluate((html, name) => html.setAttribute('data-theme', name), theme);
    await expectNoViolations(page, theme);
  }
}

/**
 * Expects no violation of accessibility rules as the page is now.
 * @param label - begins what is reported
 * @param rules - only these, by default all
 */
export async function expectNoViolations(page: Page, label: string, rules?: string[]): Promise<void> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  const found = violations.map(({ id, nodes }) => `${label}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found).toEqual([]);
}

/** Expects that nothing is wider than the window. */
export async function expectNoSideways(page: Page): Promise<void> {
  const [content, window] = await page
    .locator('html')
    .evaluate((html) => [html.scrollWidth, html.clientWidth] as const);
  expect(content).toBeLessThanOrEqual(window);
}

/** Waits until an element shows a text. */
export async function expectText(locator: Locator, text: string | RegExp, timeout = LIMIT_MS): Promise<void> {
  await expect.poll(() => locator.textContent({ timeout }), { timeout }).toMatch(text);
}

/** The browser reports responses with an error status itself; that they are expected is up to the tests. */
function isExpected(text: string): boolean {
  return text.startsWith('Failed to load resource');
}
