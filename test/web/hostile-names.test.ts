import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectNoSideways, expectText, untilLoaded, useBrowser } from '../support/web/browser.ts';

/** Markup that would run, text from right to left, and 200 characters without a break. */
const HOSTILE = `<img src=x onerror="window.hostile=1">\u202Eשלום${'x'.repeat(150)}`;
const PAGES = [
  '/',
  '/computers',
  '/computers/map',
  '/activities',
  '/profiles',
  '/scripts',
  '/alerts',
  '/events',
  '/people',
  '/settings',
];

describe('a hostile name', () => {
  const browser = useBrowser();
  let computer: number;
  let title: string;
  let script: number;

  beforeAll(async () => {
    const { api } = browser;
    // Other tests find the first computers by their titles.
    const [other] = (await api.GET('/computers', { params: { query: { limit: 1, offset: 8 } } })).data.results;
    computer = other!.id;
    title = other!.title;
    await api.request('PUT', `/computers/${computer}`, { body: { title: HOSTILE } });
    const created = await api.request('POST', '/scripts', { body: { title: HOSTILE, code: '#!/bin/sh\ntrue\n' } });
    script = (created.data as { id: number }).id;
    const trigger = { trigger_type: 'recurring', interval: '0 3 * * 1' };
    const profile = {
      title: HOSTILE,
      script_id: script,
      all_computers: false,
      tags: [],
      time_limit: 60,
      username: 'root',
      trigger,
    };
    await api.request('POST', '/script-profiles', { body: profile }).catch(() => null);
    await api.request('POST', `/scripts/${script}:execute`, { body: { query: `id:${computer}` } });
  });

  afterAll(() => browser.api.request('PUT', `/computers/${computer}`, { body: { title } }));

  const expectHarmless = async (page: Page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await untilLoaded(page);
    expect(await page.evaluate('window.hostile')).toBeUndefined();
    await expectNoSideways(page);
  };

  it.each(['desk', 'phone'] as const)('is text on every page, and keeps its layout (%s)', async (size) => {
    const page = await browser.open('/', { size });
    for (const path of [
      ...PAGES,
      `/computers/${computer}`,
      `/scripts/${script}`,
      `/act/install-snaps?ids=${computer}`,
    ]) {
      await page.goto(path);
      await expectHarmless(page);
    }
    await page.goto(`/computers/${computer}`);
    await expectText(page.getByRole('heading', { level: 1 }), '<img src=x');
  });
});
