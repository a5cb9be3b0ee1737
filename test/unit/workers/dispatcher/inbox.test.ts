import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../../src/process/logger.ts';
import { type InboxDeps, inboxPoll } from '../../../../workers/dispatcher/inbox.ts';
import { RELEASED_WAKE_UP_SIGNAL, WAKE_UP_SIGNAL } from '../../../../workflows/contracts/activity.contract.ts';

const BATCHES = 50;
const REJECTED = 1;
/** gRPC: the server cannot be reached. */
const UNAVAILABLE = 14;

/** A dispatcher with pending events of 50 batches, of which the first gets no signal because of `error`. */
function aDispatcher(error: Error, { readMs, signalMs } = { readMs: 0, signalMs: 0 }) {
  const woken: number[] = [];
  const signals = new Set<string>();
  const counts: Record<string, number> = {};
  const pending = Array.from({ length: BATCHES }, (_, n) => ({
    id: n + 1,
    account: 7,
    workflowId: `activity/${n + 1}`,
    size: 1,
    open: 1,
    fingerprint: '1',
    results: 1,
    hasCancel: false,
    ageMs: 0,
  }));
  const getHandle = (workflowId: string) => ({
    async signal(name: string) {
      vi.advanceTimersByTime(signalMs);
      const batch = Number(workflowId.slice('activity/'.length));
      if (batch === REJECTED) throw error;
      woken.push(batch);
      signals.add(name);
    },
  });
  const deps = {
    db: {
      async query() {
        vi.advanceTimersByTime(readMs);
        return pending;
      },
    },
    client: { withDeadline: (_: number, work: () => Promise<void>) => work(), workflow: { getHandle } },
    settings: { wakeUpMinMs: 500, wakeUpMaxMs: 5000 },
    logger: createLogger({ level: 'silent', role: 'test' }),
    isLeader: () => true,
    count: (what: string) => {
      counts[what] = (counts[what] ?? 0) + 1;
    },
  } as unknown as InboxDeps;
  return { round: inboxPoll(deps), woken, signals, counts };
}

describe('a poll of the inbox', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('continues when the server rejects the wake-up of one batch, which is retried on its own', async () => {
    const { round, woken, counts } = aDispatcher(new Error('exceeded workflow execution limit for signal events'));
    await round();
    expect(woken).toHaveLength(BATCHES - 1);
    expect(counts).toEqual({ refused: 1, nudged: BATCHES - 1 });
    vi.advanceTimersByTime(50);
    await round();
    expect(counts).toEqual({ refused: 1, nudged: BATCHES - 1 });
    vi.advanceTimersByTime(1000);
    await round();
    expect(counts).toEqual({ refused: 2, nudged: BATCHES - 1 });
  });

  it('requires a rest of three times its reading, however long its signals take', async () => {
    const { round } = aDispatcher(new Error('rejected'), { readMs: 20, signalMs: 1000 });
    expect(await round()).toEqual({ next: 100, restMs: 60 });
  });

  it('repeats a wake-up under the name that every build obeys', async () => {
    const { round, signals, counts } = aDispatcher(new Error('rejected'));
    await round();
    expect([...signals]).toEqual([WAKE_UP_SIGNAL]);
    vi.advanceTimersByTime(5000);
    await round();
    expect([...signals]).toEqual([WAKE_UP_SIGNAL, RELEASED_WAKE_UP_SIGNAL]);
    expect(counts).toMatchObject({ repeated: BATCHES - 1 });
  });

  it('fails when the database is unavailable', async () => {
    const { round, counts } = aDispatcher(Object.assign(new Error('read-only'), { code: '25006' }));
    await expect(round()).rejects.toThrow('read-only');
    expect(counts['refused']).toBeUndefined();
  });

  it('fails when the server is unavailable, and all remaining batches are due again', async () => {
    const away = Object.assign(new Error('unavailable'), { code: UNAVAILABLE, details: '', metadata: {} });
    const { round, woken, counts } = aDispatcher(away);
    await expect(round()).rejects.toThrow('unavailable');
    const reached = woken.length;
    expect(reached).toBeLessThan(BATCHES - 1);
    vi.advanceTimersByTime(50);
    await expect(round()).rejects.toThrow('unavailable');
    expect(woken.length).toBeGreaterThan(reached);
    expect(new Set(woken).size).toBe(woken.length);
    expect(counts['refused']).toBeUndefined();
  });
});
