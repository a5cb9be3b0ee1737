import { expect, vi } from 'vitest';
import type { FlotillaClient } from '../../../packages/client/src/index.ts';
import { WORK_MS } from './browser.ts';

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
