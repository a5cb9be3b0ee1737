import { describe, expect, it } from 'vitest';
import { signIn } from '../../tools/harness/chromium.ts';
import { ADMINISTRATOR, expectAccessible, expectText, useBrowser } from '../support/web/browser.ts';
import { actingWith } from '../support/web/computers.ts';

describe('an action whose requests are interrupted', () => {
  const browser = useBrowser();
  const { computers, act } = actingWith(browser);

  it('does not send again what may have been accepted, not even after a reload', async () => {
    const [computer] = await computers(1);
    const page = await act('install-snaps', [computer!.id]);
    const accepted: number[] = [];
    await page.route('**/api/v2/snaps', async (route) => {
      accepted.push((await route.fetch()).status());
      await route.abort();
    });
    await page.getByRole('combobox', { name: 'Snaps' }).fill('hello');
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    await expectText(page.getByRole('alert'), 'unknown whether');
    await page.reload();
    await expectText(page.getByRole('alert'), 'unknown whether');
    expect(await page.getByRole('button', { name: 'Install', exact: true }).count()).toBe(0);
    expect(await page.getByRole('alert').getByRole('link', { name: 'Activities' }).count()).toBe(1);
    expect(accepted).toEqual([200]);
  });

  it('goes on without the computer that the server refuses', async () => {
    const [first, second, third] = await computers(3);
    const page = await act('restart', [first!.id, second!.id, third!.id]);
    const requested: string[] = [];
    await page.route(/\/restart$/, async (route) => {
      const path = new URL(route.request().url()).pathname;
      requested.push(path);
      if (!path.includes(`/${second!.id}/`)) return route.continue();
      const body = { error: 'ComputerArchived', message: 'It is archived', code: 400 };
      return route.fulfill({ status: 400, json: body });
    });
    await page.getByLabel('Number of computers').fill('3');
    await page.getByRole('button', { name: 'Restart', exact: true }).click();
    await page.getByText('1 of 3 requests were accepted').waitFor();
    await expectText(page.getByRole('alert'), 'It is archived');
    await page.getByRole('button', { name: `Go on without ${second!.title}` }).click();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(requested.map((path) => Number(path.split('/').at(-2)))).toEqual([first!.id, second!.id, third!.id]);
  });

  it('continues after a reload, without the request whose result is unknown unless it is sent again', async () => {
    const chosen = await computers(4);
    const page = await act(
      'restart',
      chosen.map(({ id }) => id),
    );
    const requested: number[] = [];
    const arrived = Promise.withResolvers<void>();
    await page.route(/\/restart$/, async (route) => {
      requested.push(Number(new URL(route.request().url()).pathname.split('/').at(-2)));
      if (requested.length === 2) return arrived.resolve();
      return route.continue();
    });
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByLabel('Number of computers').fill('4');
    await page.getByRole('button', { name: 'Restart', exact: true }).click();
    await arrived.promise;
    await page.reload();
    const alert = page.getByRole('alert');
    await expectText(alert, `on ${chosen[1]!.title} was accepted. Before it, 1 of 4 requests were accepted.`);
    const work = alert.getByRole('link', { name: 'the work of this computer' });
    expect(await work.getAttribute('href')).toBe(`/computers/${chosen[1]!.id}?tab=work`);
    expect(await page.getByRole('button', { name: 'Restart', exact: true }).count()).toBe(0);
    await expectAccessible(page);
    await work.click();
    await page.getByRole('tab', { name: 'Work', selected: true }).waitFor();
    await page.goBack();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied as curl').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect([...copied.matchAll(/\/(\d+)\/restart/g)].map(([, id]) => Number(id))).toEqual([
      chosen[2]!.id,
      chosen[3]!.id,
    ]);
    await page.getByRole('button', { name: 'Continue', exact: true }).dblclick();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(requested).toEqual(chosen.map(({ id }) => id));
    expect(new URL(page.url()).searchParams.get('query')).toMatch(/^id:\d+ OR id:\d+ OR id:\d+$/);
  });

  it('continues where the session had ended, also after a reload', async () => {
    const chosen = await computers(3);
    const page = await act(
      'restart',
      chosen.map(({ id }) => id),
    );
    const statuses: number[] = [];
    await page.route(/\/restart$/, async (route) => {
      if (statuses.length === 1) await page.context().clearCookies();
      const { cookie: _, ...headers } = await route.request().allHeaders();
      const response = await route.fetch(statuses.length === 1 ? { headers } : {});
      statuses.push(response.status());
      await route.fulfill({ response });
    });
    await page.getByLabel('Number of computers').fill('3');
    await page.getByRole('button', { name: 'Restart', exact: true }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await page.reload();
    await signIn(page, ADMINISTRATOR, browser.stack.password);
    await page.getByText('1 of 3 requests were accepted.').waitFor();
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
    expect(statuses).toEqual([200, 401, 200, 200]);
  });

  it('sends what may have been accepted again when the person chooses so', async () => {
    const [computer] = await computers(1);
    const page = await act('restart', [computer!.id]);
    let isLost = true;
    await page.route(/\/restart$/, (route) => (isLost ? route.abort() : route.continue()));
    await page.getByRole('button', { name: 'Restart', exact: true }).click();
    await page.getByRole('alert').waitFor();
    isLost = false;
    await page.getByRole('button', { name: 'Send it again' }).click();
    await page.waitForURL(/\/activities\/\d+$/);
  });
});
