import { describe, expect, it } from 'vitest';
import type { BatchEvents } from '../../../../src/persistence/engine/pending-events.sql.ts';
import { WakeUpPlanner } from '../../../../workers/dispatcher/wake-up-planner.ts';

const SETTINGS = { wakeUpMinMs: 500, wakeUpMaxMs: 5000 };
const events = (overrides: Partial<BatchEvents> = {}): BatchEvents => ({
  id: 1,
  account: 7,
  workflowId: 'activity/1',
  fingerprint: '1',
  results: 1,
  hasCancel: false,
  size: 1000,
  open: 1000,
  ageMs: 0,
  ...overrides,
});
const picks = (planner: WakeUpPlanner, at: number, ...batches: BatchEvents[]) =>
  planner.pick(batches, at).map(({ id }) => id);

describe('WakeUpPlanner', () => {
  it('wakes a batch with pending events immediately, and not again without further events', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    expect(picks(planner, 0, events())).toEqual([1]);
    expect(picks(planner, 100, events())).toEqual([]);
    expect(picks(planner, 4900, events())).toEqual([]);
  });

  it('repeats a wake-up that had no effect for five seconds', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events());
    expect(picks(planner, 5000, events())).toEqual([1]);
  });

  it('repeats a wake-up at growing intervals for the same events, and immediately for others', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    const wokenAt: number[] = [];
    for (let at = 0; at <= 3_600_000; at += 100) if (picks(planner, at, events()).length > 0) wokenAt.push(at);
    expect(wokenAt.length).toBeLessThanOrEqual(20);
    expect(wokenAt.slice(0, 4)).toEqual([0, 5000, 15_000, 35_000]);
    expect(wokenAt.at(-1)! - wokenAt.at(-2)!).toBe(300_000);
    const later = 3_600_100;
    expect(picks(planner, later, events({ fingerprint: '2', size: 1 }))).toEqual([1]);
    expect(picks(planner, later + 5000, events({ fingerprint: '2', size: 1 }))).toEqual([1]);
  });

  it('gives the report of a small batch a moment to follow its delivery', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    const delivered = events({ size: 1, open: 1, results: 0 });
    expect(picks(planner, 0, delivered)).toEqual([]);
    expect(picks(planner, 100, events({ size: 1, open: 1, fingerprint: '3' }))).toEqual([1]);
    expect(picks(planner, 200, { ...delivered, id: 2 })).toEqual([]);
    expect(picks(planner, 449, { ...delivered, id: 2 })).toEqual([]);
    expect(picks(planner, 450, { ...delivered, id: 2 })).toEqual([2]);
    expect(picks(planner, 450, { ...delivered, id: 3, hasCancel: true }, { ...delivered, id: 4, size: 11 })).toEqual([
      3, 4,
    ]);
  });

  it('coalesces wake-ups of a large batch to one per interval', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events());
    expect(picks(planner, 400, events({ fingerprint: '2' }))).toEqual([]);
    expect(picks(planner, 500, events({ fingerprint: '3' }))).toEqual([1]);
  });

  it('lets the interval grow with the age of the batch, up to its limit', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events({ ageMs: 40_000 }));
    expect(picks(planner, 1900, events({ fingerprint: '2', ageMs: 41_900 }))).toEqual([]);
    expect(picks(planner, 2200, events({ fingerprint: '2', ageMs: 42_200 }))).toEqual([1]);
    expect(picks(planner, 7100, events({ fingerprint: '3', ageMs: 86_400_000 }))).toEqual([]);
    expect(picks(planner, 7200, events({ fingerprint: '3', ageMs: 86_400_000 }))).toEqual([1]);
  });

  it('lets many large batches of an account share wake-ups, but not those of another account', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    const batches = (fingerprint: string) => [
      ...Array.from({ length: 6 }, (_, i) => events({ id: i + 1, fingerprint })),
      events({ id: 7, account: 8, fingerprint }),
      events({ id: 8, size: 1, fingerprint }),
    ];
    expect(picks(planner, 0, ...batches('1'))).toHaveLength(8);
    expect(picks(planner, 500, ...batches('2'))).toEqual([7, 8]);
    expect(picks(planner, 2999, ...batches('2'))).toEqual([]);
    expect(picks(planner, 3000, ...batches('2'))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('lets no number of batches wait longer than the longest interval', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    const batches = (fingerprint: string) => Array.from({ length: 100 }, (_, i) => events({ id: i + 1, fingerprint }));
    picks(planner, 0, ...batches('1'));
    expect(picks(planner, 4999, ...batches('2'))).toEqual([]);
    expect(picks(planner, 5000, ...batches('2'))).toHaveLength(100);
  });

  it('remembers a large batch between bursts of events', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events());
    expect(picks(planner, 100)).toEqual([]);
    expect(picks(planner, 200, events({ fingerprint: '2' }))).toEqual([]);
  });

  it('never lets a small batch, a cancel or the last results wait', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events({ id: 1, size: 10 }), events({ id: 2 }), events({ id: 3 }));
    const later = [
      events({ id: 1, size: 10, fingerprint: '2' }),
      events({ id: 2, fingerprint: '2', hasCancel: true }),
      events({ id: 3, fingerprint: '2', open: 3, results: 3 }),
    ];
    expect(picks(planner, 100, ...later)).toEqual([1, 2, 3]);
  });

  it('sends a failed wake-up again in the next poll', () => {
    const planner = new WakeUpPlanner(SETTINGS);
    picks(planner, 0, events());
    planner.retry(1);
    expect(picks(planner, 100, events())).toEqual([1]);
  });
});
