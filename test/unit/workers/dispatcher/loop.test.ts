import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../../src/process/logger.ts';
import { type Loop, startLoop } from '../../../../workers/dispatcher/loop.ts';

const HOUR_MS = 3_600_000;
const logger = createLogger({ level: 'silent', role: 'test' });

let loop: Loop;

afterEach(() => loop.stop());

describe('a loop', () => {
  it('rests after a poll that found nothing, until it is woken', async () => {
    const poll = vi.fn(async () => false);
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(1));
    loop.wake();
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(2));
  });

  it('passes on to the next poll, and only to that one, that it was woken', async () => {
    const poll = vi.fn(async (isWoken?: boolean) => isWoken === true);
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(1));
    loop.wake();
    await vi.waitFor(() => expect(poll.mock.calls).toEqual([[false], [true], [false]]));
  });

  it('polls again when more may be left', async () => {
    const poll = vi.fn(async () => poll.mock.calls.length < 3);
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(3));
  });

  it('polls again after the pause that a poll returned', async () => {
    const poll = vi.fn(async () => poll.mock.calls.length < 3 && 1);
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(3));
  });

  it('polls again when it was woken during a poll', async () => {
    const poll = vi.fn(async () => {
      await Promise.resolve();
      if (poll.mock.calls.length === 1) loop.wake();
      return false;
    });
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(poll).toHaveBeenCalledTimes(2));
  });

  it('rests as long as a poll requires, even when it is woken', async () => {
    const polls: number[] = [];
    const poll = async () => {
      polls.push(performance.now());
      return { next: false, restMs: 100 };
    };
    loop = startLoop({ name: 'test', everyMs: HOUR_MS, poll, logger });
    await vi.waitFor(() => expect(polls).toHaveLength(1));
    loop.wake();
    await vi.waitFor(() => expect(polls).toHaveLength(2));
    // Timers may be a millisecond early.
    expect(polls[1]! - polls[0]!).toBeGreaterThan(98);
  });

  it('polls ever more rarely while it finds nothing, and often again once woken', async () => {
    vi.useFakeTimers();
    const startedAt = Date.now();
    const polls: number[] = [];
    const poll = async () => {
      polls.push(Date.now() - startedAt);
      return false;
    };
    loop = startLoop({ name: 'test', everyMs: 100, idleMs: 500, poll, logger });
    await vi.advanceTimersByTimeAsync(1_800);
    expect(polls).toEqual([0, 100, 300, 700, 1_200, 1_700]);
    loop.wake(50);
    await vi.advanceTimersByTimeAsync(350);
    expect(polls.slice(6)).toEqual([1_850, 1_950, 2_150]);
    // By the real clock, the end of its pause may have passed already.
    await loop.stop();
    vi.useRealTimers();
  });

  it('retries a failed poll and reports each failure', async () => {
    const onFailure = vi.fn();
    const poll = vi.fn(async () => {
      throw new Error('lost');
    });
    loop = startLoop({ name: 'test', everyMs: 1, poll, logger, onFailure });
    await vi.waitFor(() => expect(onFailure).toHaveBeenCalledTimes(2));
  });
});
