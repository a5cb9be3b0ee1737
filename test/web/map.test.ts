import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectNoSideways, expectText, untilLoaded, useBrowser } from '../support/web/browser.ts';

/** Of few computers. */
const CELL_PX = 24;
const LIVE_MS = 15_000;

describe('the map', () => {
  const browser = useBrowser();
  let titles: Map<number, string>;
  beforeAll(async () => {
    const { data } = await browser.api.GET('/computers', { params: { query: { root_only: false } } });
    titles = new Map(data.results.map(({ id, title }) => [id, title]));
  });

  const canvas = (page: Page) => page.getByRole('application', { name: 'Map of computers' });
  const legend = (page: Page) => page.getByRole('list', { name: 'Legend' });
  const computer = (page: Page) => page.getByRole('status', { name: 'Computer' });
  async function open(search: string, options?: Parameters<typeof browser.open>[1]): Promise<Page> {
    const page = await browser.open(`/computers/map${search}`, options);
    await untilLoaded(page);
    await canvas(page).waitFor();
    return page;
  }
  /** The sum of the legend's numbers. */
  async function counted(page: Page): Promise<number> {
    const texts = await legend(page).getByRole('button').allTextContents();
    return texts.reduce((sum, text) => sum + Number(/\d+$/.exec(text)?.[0]), 0);
  }

  it('names the computer under the pointer and the keyboard, and leads to it', async () => {
    const page = await open('');
    expect(await counted(page)).toBe(titles.size);
    const [first, second] = [...titles.values()];
    await canvas(page).focus();
    await expectText(computer(page), first!);
    await page.keyboard.press('ArrowRight');
    await expectText(computer(page), second!);
    await canvas(page).hover({ position: { x: 4 * CELL_PX + 8, y: 8 } });
    await expectText(computer(page), [...titles.values()][4]!);
    await page.keyboard.press('End');
    await expectText(computer(page), [...titles.values()].at(-1)!);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/computers/${[...titles.keys()].at(-1)}`);
  });

  it('keeps its question and its groups in the address', async () => {
    const page = await open('');
    await page.getByLabel('Colour by').selectOption('Last contact');
    await page.getByLabel('Group by').selectOption('Access group');
    await expectText(legend(page), 'In the last 5 minutes');
    expect(new URL(page.url()).search).toBe('?color=contact&group=access_group');
    await page.reload();
    await expectText(legend(page), 'In the last 5 minutes');
    await page.getByText('In numbers').click();
    await expectText(page.getByRole('row', { name: /^All/ }), String(titles.size));
    await page.getByRole('button', { name: /^Never/ }).click();
    await page.waitForURL(/highlight=never/);
  });

  it('selects what a rectangle covers', async () => {
    const page = await open('');
    const { x, y, width, height } = (await canvas(page).boundingBox())!;
    await page.keyboard.down('Shift');
    await page.mouse.move(x + 1, y + 1);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.getByText(`${titles.size} selected`).waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem').first().waitFor();
    await page.keyboard.press('Escape');
    await canvas(page).focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press(' ');
    await page.getByText('1 selected').waitFor();
  });

  it('follows fingers: a tap names a computer, two zoom, one moves', async () => {
    const page = await open('', { size: 'phone', hasTouch: true });
    const names = [...titles.values()];
    const { x, y } = (await canvas(page).boundingBox())!;
    const at = (left: number): Finger => ({ x: x + left, y: y + CELL_PX / 2 });
    const fingers = await touch(page);
    await fingers([at(2.5 * CELL_PX)], []);
    await expectText(computer(page), names[2]!);

    // Twice the distance makes cells twice as large around the middle: the edge of the map stays at its beginning.
    await fingers([at(0), at(2 * CELL_PX)], [at(0), at(3 * CELL_PX)], [at(0), at(4 * CELL_PX)], []);
    await fingers([at(2.5 * CELL_PX)], []);
    await expectText(computer(page), names[1]!);

    await fingers([at(8 * CELL_PX)], [at(7 * CELL_PX)], [at(6 * CELL_PX)], []);
    await fingers([at(2.5 * CELL_PX)], []);
    await expectText(computer(page), names[2]!);
    expect(new URL(page.url()).pathname).toBe('/computers/map');
  });

  it('shows what happens while it happens', async () => {
    const page = await open('?group=tag');
    const [id] = titles.keys();
    await page.getByText('In numbers').click();
    await browser.api.POST('/computers:add-tags', { body: { query: `id:${id}`, tags: ['on-the-map'] } });
    await page.getByRole('link', { name: 'on-the-map' }).waitFor();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const { data } = await browser.api.POST('/snaps', {
      body: { action: 'install', computer_ids: [id!], snaps: [{ name: 'hello' }], deliver_after: tomorrow },
    });
    await page.goto(`/computers/map?color=activity:${data.id}`);
    await expectText(legend(page), /Waiting1/);
    await browser.api.POST('/activities/cancel', { body: { activity_ids: [data.id] } });
    // Sooner than the map is read without an event.
    await expectText(legend(page), /Canceled1/, LIVE_MS);
  });

  it('explains that a query finds nothing, and what is wrong with it', async () => {
    const page = await open('');
    await page.getByLabel('Query', { exact: true }).fill('tag:nowhere');
    await page.getByText('No computer matches this query').waitFor();
    await page.getByLabel('Query', { exact: true }).fill('nonsense:1');
    await page.locator('[aria-invalid=true]').waitFor();
  });

  it('is accessible, and fits on a phone', async () => {
    await expectAccessible(await open('?group=tag'));
    const phone = await open('?group=access_group', { size: 'phone' });
    await phone.getByText('In numbers').click();
    await expectAccessible(phone);
    await expectNoSideways(phone);
  });
});

interface Finger {
  x: number;
  y: number;
}

/** What puts fingers on the page, moves and lifts them: from each list of places to the next. */
async function touch(page: Page): Promise<(...steps: Finger[][]) => Promise<void>> {
  const devtools = await page.context().newCDPSession(page);
  return async (...steps) => {
    for (const [index, fingers] of steps.entries()) {
      const type = index === 0 ? 'touchStart' : fingers.length === 0 ? 'touchEnd' : 'touchMove';
      const touchPoints = fingers.map((finger, id) => ({ ...finger, id }));
      await devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
    }
  };
}
