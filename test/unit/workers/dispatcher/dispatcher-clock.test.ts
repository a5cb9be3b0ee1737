import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../../src/process/logger.ts';
import { type InboxDeps, inboxPoll } from '../../../../workers/dispatcher/inbox.ts';

const HOUR_MS = 3_600_000;

describe('the dispatcher', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('looks for abandoned events again although the clock was set back by an hour', async () => {
    let looks = 0;
    const query = async () => {
      looks += 1;
      return [];
    };
    const deps = {
      db: { query },
      settings: { wakeUpMinMs: 0, wakeUpMaxMs: 0 },
      logger: createLogger({ level: 'silent', role: 'test' }),
      isLeader: () => false,
    } as unknown as InboxDeps;
    const round = inboxPoll(deps);
    const now = Date.now();
    vi.setSystemTime(now + HOUR_MS);
    await round();
    vi.setSystemTime(now);
    vi.advanceTimersByTime(2_000);
    await round();
    expect(looks).toBe(2);
  });
});
