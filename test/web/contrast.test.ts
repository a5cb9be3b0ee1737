import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectNoViolations, untilLoaded, useBrowser } from '../support/web/browser.ts';
import { enrolledComputers } from '../support/web/computers.ts';

const PATHS = [
  '/',
  '/computers',
  '/computers/map?group=tag',
  '/computers/1',
  '/computers/1?tab=compliance',
  '/act/restart?ids=1,2',
  '/activities',
  '/profiles',
  '/scripts',
  '/scripts/new',
  '/alerts',
  '/events',
  '/people?tab=roles',
  '/settings',
  '/settings?tab=server',
];
/** The colour of the map there, as a script. */
const pixelAt = (x: number, y: number) =>
  `document.querySelector('.map-canvas').getContext('2d').getImageData(${x}, ${y}, 1, 1).data.join()`;
const SCHEMES = ['light', 'dark'] as const;
/** Of text and background. */
const COLORS = { light: ['rgb(0, 0, 0)', 'rgb(255, 255, 255)'], dark: ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'] };
/** All that depend on colours: other tests check the others. */
const RULES = ['color-contrast', 'link-in-text-block'];

describe('high contrast', () => {
  const browser = useBrowser();
  beforeAll(async () => {
    await enrolledComputers(browser.api);
  });

  async function expectReadable(page: Page, show: (scheme: 'light' | 'dark') => Promise<void>): Promise<void> {
    for (const path of PATHS) {
      await page.goto(path);
      await untilLoaded(page);
      for (const scheme of SCHEMES) {
        await show(scheme);
        await expectNoViolations(page, `${scheme} ${path}`, RULES);
      }
    }
  }

  const colorsOf = (page: Page) =>
    page.evaluate<string[]>(
      '[getComputedStyle(document.body).color, getComputedStyle(document.documentElement).backgroundColor]',
    );

  it('is a theme of the page, which stays', async () => {
    const page = await browser.open('/computers');
    expect(await colorsOf(page)).not.toEqual(COLORS.light);
    await page.getByRole('button', { name: 'Administrator' }).click();
    await page.getByRole('menuitemradio', { name: 'High contrast' }).click();
    await expect.poll(() => colorsOf(page)).toEqual(COLORS.light);
    await page.reload();
    await untilLoaded(page);
    for (const theme of SCHEMES) {
      await page.emulateMedia({ colorScheme: theme });
      expect(await colorsOf(page)).toEqual(COLORS[theme]);
    }
    await expectReadable(page, (colorScheme) => page.emulateMedia({ colorScheme }));
  });

  it('is what the system wants: its colours replace those of the page', async () => {
    const page = await browser.open('/');
    await expectReadable(page, (colorScheme) =>
      page.emulateMedia({ forcedColors: 'active', contrast: 'more', colorScheme }),
    );
  });

  it('of the system leaves states their shapes, the present page its mark, and the map its colours', async () => {
    const page = await browser.open('/settings?tab=server');
    await page.emulateMedia({ forcedColors: 'active', contrast: 'more' });
    const shapeOf = async (state: string) => {
      const cell = page.getByRole('cell', { name: state, exact: true }).first();
      return { path: await cell.locator('path').getAttribute('d'), isVisible: await cell.locator('svg').isVisible() };
    };
    const [on, off] = [await shapeOf('On'), await shapeOf('Off')];
    expect([on.isVisible, off.isVisible, on.path === off.path]).toEqual([true, true, false]);
    const markOf = (link: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('nav a${link}')).borderBottomColor`);
    expect(await markOf('[aria-current=page]')).not.toBe(await markOf(':not([aria-current])'));
    await page.goto('/computers/map');
    await untilLoaded(page);
    await page.getByRole('application', { name: 'Map of computers' }).waitFor();
    const [cell, background] = [pixelAt(4, 4), pixelAt(4, 400)];
    await expect.poll(async () => (await page.evaluate(cell)) !== (await page.evaluate(background))).toBe(true);
  });
});
