import { expect, vi } from 'vitest';
import type { FlotillaClient } from '../../../packages/client/src/index.ts';
import { type TestBrowser, untilLoaded, WORK_MS } from './browser.ts';

const ENROLLED = 12;

/** The simulated computers of the shared stack, once all of them have enrolled. */
export async function enrolledComputers(api: FlotillaClient): Promise<Array<{ id: number; title: string }>> {
  return vi.waitFor(
    async () => {
      const { results } = (await api.GET('/computers')).data;
      expect(results.length).toBeGreaterThanOrEqual(ENROLLED);
      return results;
    },
    { timeout: WORK_MS, interval: 500 },
  );
}

/** What tests of actions start from. */
export function actingWith(browser: TestBrowser) {
  return {
    /** The first computers by id. */
    async computers(count: number) {
      return (await browser.api.GET('/computers', { params: { query: { limit: count } } })).data.results;
    },
    /** Opens the form of an action on some computers. */
    async act(action: string, ids: readonly number[], size: 'desk' | 'phone' = 'desk') {
      const page = await browser.open(`/act/${action}?ids=${ids.join(',')}`, { size });
      await untilLoaded(page);
      return page;
    },
  };
}
