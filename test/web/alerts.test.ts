import { expect, it } from 'vitest';
import { expectAccessible, expectNoSideways, useBrowser, WORK_MS } from '../support/web/browser.ts';

const LABEL = 'Security upgrades are available';
const browser = useBrowser();

it('shows on which computers an alert is active, and dismisses it', async () => {
  const statusOf = async () => (await browser.api.GET('/alerts')).data.find(({ label }) => label === LABEL)?.status;
  await expect.poll(statusOf, { timeout: WORK_MS }).toBe('active');
  const page = await browser.open('/alerts');
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
  const row = page.getByRole('row', { name: LABEL });
  await row.getByRole('cell', { name: 'Notice' }).waitFor();
  await expectAccessible(page);

  await row.getByRole('link', { name: /computer/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Computers' }).waitFor();
  expect(new URL(page.url()).searchParams.get('query')).toBe('alert:security-upgrades');
  await page.goBack();

  await row.getByRole('button', { name: 'Dismiss' }).click();
  const dialog = page.getByRole('dialog', { name: 'Dismiss the alert' });
  await dialog.getByText('other administrators').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click();
  await row.getByRole('cell', { name: 'Dismissed' }).waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
  expect(await statusOf()).toBe('dismissed');
});

it('fits on a phone', async () => {
  const page = await browser.open('/alerts', { size: 'phone' });
  await page.getByRole('row', { name: LABEL }).waitFor();
  await expectNoSideways(page);
});
