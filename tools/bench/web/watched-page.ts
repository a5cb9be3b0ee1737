import { signIn } from '../../harness/chromium.ts';
import type { Browser, Page } from 'playwright-core';
import { ADMIN } from '../product/stack.ts';

const VIEW = { width: 1400, height: 900 };
const LIMIT_MS = 120_000;
const PAN_MS = 3000;
const SCROLL_STEPS = 60;
const SCROLL_PX = 160;
const SCROLL_EVERY_MS = 50;

/** Runs in the page: notes when the map is painted first, when frames are, and when its first pixels change. */
const WATCH = `(() => {
  const watch = { painted: null, frames: [], changes: [], blank: 0, rows: 0, isPixels: false, isRows: false };
  window.watch = watch;
  const pixelsOf = (canvas) => canvas.getContext('2d').getImageData(0, 1, 24, 2).data;
  let last = '';
  const countRows = () => {
    const scroller = document.querySelector('.table-scroller');
    const bottom = scroller.getBoundingClientRect().bottom;
    const top = scroller.querySelector('.table-head').getBoundingClientRect().bottom;
    const rows = [...scroller.querySelectorAll('.table-body [role=row]')].filter((row) => {
      const box = row.getBoundingClientRect();
      return box.bottom > top && box.top < bottom;
    });
    const height = rows[0]?.getBoundingClientRect().height ?? 32;
    const missing = Math.max(0, Math.floor((bottom - top) / height) - rows.length);
    watch.rows = Math.max(watch.rows, rows.length);
    watch.blank = Math.max(watch.blank, missing + rows.filter((row) => row.querySelector('.cell-skeleton')).length);
  };
  const onFrame = (now) => {
    watch.frames.push(now);
    const canvas = watch.painted === null || watch.isPixels ? document.querySelector('canvas[role=application]') : null;
    if (watch.painted === null && canvas && canvas.width > 1 && pixelsOf(canvas)[3] > 0) watch.painted = performance.now();
    if (watch.isPixels && canvas) {
      const text = pixelsOf(canvas).join();
      if (text !== last) watch.changes.push(performance.timeOrigin + performance.now());
      last = text;
    }
    if (watch.isRows) countRows();
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
})();`;

/** A page that notes what it paints. */
export interface WatchedPage {
  readonly page: Page;
  /** Has the first pixels of the map compared in every frame from now on. */
  watchPixels(): Promise<void>;
  /** When the first pixels of the map have changed after a time of the system's clock; waits for it. */
  changeAfter(time: number): Promise<number>;
}

/** Opens a page and signs in. */
export async function openWatched(browser: Browser, url: string): Promise<WatchedPage> {
  // Playwright waits by scripts that it evaluates, which the policy of the page forbids.
  const page = await (await browser.newContext({ viewport: VIEW, baseURL: url, bypassCSP: true })).newPage();
  page.setDefaultTimeout(LIMIT_MS);
  await page.addInitScript({ content: WATCH });
  await page.goto('/');
  await signIn(page, ADMIN.email, ADMIN.password);
  return {
    page,
    async watchPixels() {
      await page.waitForFunction('window.watch.painted');
      await page.evaluate('window.watch.isPixels = true');
      await page.waitForFunction('window.watch.changes.length > 0');
    },
    async changeAfter(time) {
      const found = `window.watch.changes.find((at) => at > ${time})`;
      const change = await page.waitForFunction(found, null, { polling: 50 });
      return (await change.jsonValue()) as number;
    },
  };
}

/** Milliseconds from the beginning of a navigation to the frame in which the map is painted. */
export async function measurePaint({ page }: WatchedPage, path: string): Promise<number> {
  await page.goto(path);
  const painted = await page.waitForFunction('window.watch.painted');
  return (await painted.jsonValue()) as number;
}

/** Zooms into the map and moves it by the mouse. @returns frames per second */
export async function measurePan({ page }: WatchedPage): Promise<number> {
  const box = (await page.getByRole('application').boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -900);
  await page.mouse.down();
  await page.evaluate('window.watch.frames = []');
  const endsAt = performance.now() + PAN_MS;
  for (let step = 0; performance.now() < endsAt; step += 1) {
    await page.mouse.move(x + 200 * Math.sin(step / 20), y + 150 * Math.cos(step / 20));
  }
  const frames = await page.evaluate<number[]>('window.watch.frames');
  await page.mouse.up();
  return ((frames.length - 1) * 1000) / (frames.at(-1)! - frames[0]!);
}

/** Scrolls a list steadily. @returns the most rows in view that had no content, in any frame */
export async function measureScroll({ page }: WatchedPage, path: string): Promise<number> {
  await page.goto(path);
  const scroller = page.locator('.table-scroller');
  await scroller.locator('.table-body [role=row] a').first().waitFor();
  await scroller.hover();
  await page.evaluate('Object.assign(window.watch, { isRows: true, blank: 0, rows: 0 })');
  for (let step = 0; step < SCROLL_STEPS; step += 1) {
    await page.mouse.wheel(0, SCROLL_PX);
    await page.waitForTimeout(SCROLL_EVERY_MS);
  }
  const { blank, rows } = await page.evaluate<{ blank: number; rows: number }>('window.watch');
  if (rows === 0) throw new Error('the list had no row in view');
  return blank;
}
