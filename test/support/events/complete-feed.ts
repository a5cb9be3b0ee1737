import { expect, vi } from 'vitest';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { readFeedState } from '../../../src/persistence/events/cloud-events.sql.ts';

/** A transaction of another test, on the same server, holds events back while it lasts: waits until none does. */
export async function untilComplete(db: Sql): Promise<void> {
  await vi.waitFor(async () => expect((await readFeedState(db)).held).toBe(false), 20_000);
}
