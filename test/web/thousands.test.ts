import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPersistence, type Persistence } from '../../src/persistence/orm/orm.ts';
import { expectText, untilLoaded, useBrowser, WORK_MS } from '../support/web/browser.ts';

const COMPUTERS = 1200;
/** Of every hundred, one. */
const ARCHIVED = COMPUTERS / 100;

/** Has a stack of its own, because every list of computers would be long otherwise. */
describe('an action that is a request for each of thousands of computers', () => {
  let persistence: Persistence;
  const browser = useBrowser(async () => ({ FLOTILLA_SIMULATED_COMPUTERS: '0' }));
  beforeAll(async () => {
    const { databaseUrl } = browser.stack;
    persistence = await openPersistence({ url: databaseUrl, poolSize: 1, applicationName: 'thousands-test' });
    await persistence.db.query(
      `insert into computer (account_id, access_group_id, state, title, hostname, tags, registered_at)
       select account_id, id, 'approved', 'many-' || n, 'many-' || n, '{}', now()
       from access_group, generate_series(1, $1::int) n where name = 'global'`,
      [COMPUTERS],
    );
  });
  afterAll(() => persistence?.close());

  const progress = (page: Page) => page.getByText(/^Sending request [\d,]+ of [\d,]+/);
  const started = async () => {
    const sql = `select count(*)::int as restarts, count(distinct computer_id)::int as computers
      from activity where computer_id is not null`;
    return (await persistence.db.query(sql))[0];
  };

  it('shows how far it is, can be stopped, and names those that were refused', async () => {
    const page = await browser.open('/act/restart?query=many-');
    await untilLoaded(page);
    await page.getByRole('heading', { name: '1,200 computers' }).waitFor();
    // Meanwhile somebody archives some of them.
    await persistence.db.query(`update computer set archived = true where title like 'many-%00'`);
    await page.getByLabel('Number of computers').fill(String(COMPUTERS));
    const restart = page.getByRole('button', { name: 'Restart', exact: true });
    await restart.click();
    await progress(page).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^\d+ of 1,200 requests were accepted/).waitFor();

    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expectText(page.getByRole('alert'), 'archived', WORK_MS);
    await page.getByRole('button', { name: 'Go on without all that are refused' }).click();
    await page.getByText(/^[\d,]+ refused$/).waitFor({ timeout: WORK_MS });
    const show = page.getByRole('button', { name: 'Show what was started' });
    await show.waitFor({ timeout: 3 * WORK_MS });
    const rest = COMPUTERS - ARCHIVED;
    await page
      .getByText(`${rest.toLocaleString('en-US')} requests were accepted. Refused for ${ARCHIVED} computers:`)
      .waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /^many-100: / })
      .waitFor();
    expect(await restart.count()).toBe(0);
    expect(await started()).toEqual({ restarts: rest, computers: rest });
    await show.click();
    await page.getByRole('heading', { level: 1, name: 'Activities' }).waitFor();
  });
});
