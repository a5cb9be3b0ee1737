import { beforeAll, describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNoSideways,
  expectText,
  untilLoaded,
  useBrowser,
  WORK_MS,
} from '../support/web/browser.ts';

describe('the pages of activities', () => {
  const browser = useBrowser();
  let computers: number[];

  beforeAll(async () => {
    const { data } = await browser.api.GET('/computers', { params: { query: { limit: 6 } } });
    computers = data.results.map(({ id }) => id);
    expect(computers).toHaveLength(6);
  });

  async function install(snap: string, ids: number[], later: { deliver_after?: string } = {}): Promise<number> {
    const body = { action: 'install' as const, computer_ids: ids, snaps: [{ name: snap }], ...later };
    return (await browser.api.POST('/snaps', { body })).data.id!;
  }

  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

  it('follow a group on five computers from its start to its end, and back in time', {
    timeout: 2 * WORK_MS,
  }, async () => {
    const page = await browser.open('/activities');
    // Seconds before they are delivered: the moments of an activity are whole seconds.
    const deliver_after = new Date(Date.now() + 3000).toISOString();
    const id = await install('no-such-snap', computers.slice(0, 5), { deliver_after });
    const link = page.locator(`a[href="/activities/${id}"]`);
    await link.waitFor({ timeout: WORK_MS });
    await link.click();
    const status = page.locator('h1 ~ [role="status"]');
    await expectText(status, 'Failed', WORK_MS);
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Install snaps on computer']);
    await page.getByText('5 failed of 5, at its end').waitFor({ timeout: WORK_MS });
    const failed = page.getByRole('grid', { name: 'Computers' }).getByRole('gridcell', { name: 'Failed' });
    await expect.poll(() => failed.count()).toBe(5);
    await page.getByRole('slider', { name: 'Moment' }).press('Home');
    await expect.poll(() => failed.count()).toBe(0);
    await expect.poll(() => page.url()).toContain('at=');
    await page.reload();
    await expect.poll(() => page.getByRole('gridcell', { name: 'Scheduled' }).count()).toBe(5);
    await page.getByRole('button', { name: 'Back to the end' }).click();
    await expect.poll(() => failed.count()).toBe(5);
    await untilLoaded(page);
    await expectAccessible(page);
    await page.setViewportSize({ width: 400, height: 800 });
    await expectNoSideways(page);
  });

  it('group failures by their text, which selects computers', { timeout: 2 * WORK_MS }, async () => {
    const id = await install('no-such-snap', computers.slice(0, 3));
    await browser.api.waitFor(id);
    const page = await browser.open(`/activities/${id}?computer=nothing-has-this-title`);
    await page.getByText('No computer of this activity matches').waitFor();
    await page.getByRole('button', { name: 'Show all' }).first().click();
    const failure = page.getByRole('button', { name: /3 × cannot install "no-such-snap": snap not found/ });
    await failure.click();
    await expect.poll(() => failure.getAttribute('aria-pressed')).toBe('true');
    await page.getByText('3 found').waitFor();
    await page.getByLabel('Status').selectOption('succeeded');
    await page.getByText('No computer of this activity matches').waitFor();
    expect(await failure.getAttribute('aria-pressed')).toBe('false');
  });

  it('lead from a computer to its own activity, and back', { timeout: 2 * WORK_MS }, async () => {
    const id = await install('no-such-snap', computers.slice(0, 2));
    await browser.api.waitFor(id);
    const page = await browser.open(`/activities/${id}`);
    await page
      .getByRole('link', { name: /^Details of / })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: 'Install snap no-such-snap' }).waitFor();
    await page.getByText('cannot install "no-such-snap": snap not found').first().waitFor();
    await page.getByRole('link', { name: 'Install snaps on computer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Install snaps on computer' }).waitFor();
  });

  it('cancel what has not started, after naming the consequence', async () => {
    const id = await install('hello', computers.slice(0, 2), { deliver_after: tomorrow() });
    const page = await browser.open(`/activities/${id}`);
    await expectText(page.locator('h1 ~ [role="status"]'), 'Scheduled');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 computers will not receive it.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
    await expectText(page.locator('h1 ~ [role="status"]'), 'Canceled', WORK_MS);
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
  });

  it('cancel several at once', { timeout: 2 * WORK_MS }, async () => {
    const ids = [
      await install('hello', computers.slice(0, 1), { deliver_after: tomorrow() }),
      await install('hello', computers.slice(0, 1), { deliver_after: tomorrow() }),
    ];
    const page = await browser.open(`/activities?query=id:${ids[0]}+OR+id:${ids[1]}`);
    await page.getByLabel('Select all rows that are loaded').check();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Cancel 2 activities' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
    await expect.poll(() => page.getByRole('gridcell', { name: 'Canceled' }).count(), { timeout: WORK_MS }).toBe(2);
    await expectAccessible(page);
  });

  it('revert what succeeded, by an activity that says what it reverts', { timeout: 3 * WORK_MS }, async () => {
    const id = await install('hello', computers.slice(0, 3));
    await browser.api.waitFor(id);
    const page = await browser.open(`/activities/${id}`);
    await page.getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await page.waitForURL((url) => /^\/activities\/\d+$/.test(url.pathname) && !url.pathname.endsWith(`/${id}`));
    const reverted = page.getByRole('definition').getByRole('link', { name: 'Install snaps on computer' });
    expect(await reverted.getAttribute('href')).toBe(`/activities/${id}`);
    await expectText(page.locator('h1 ~ [role="status"]'), 'Succeeded', WORK_MS);
  });

  it('show an unknown activity and a wrong query as such', async () => {
    const page = await browser.open('/activities/2147483647');
    await page.getByText('There is no such activity').waitFor();
    await page.goto('/activities?query=status:nonsense');
    await page.getByRole('alert').getByText('status').first().waitFor();
    await page.goto('/activities?query=nothing-has-this-summary');
    await page.getByText('No activity matches').waitFor();
  });
});
