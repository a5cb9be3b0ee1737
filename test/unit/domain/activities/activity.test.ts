import { describe, expect, it } from 'vitest';
import { type ActivitySubject, actionsOf } from '../../../../src/domain/activities/eligibility.ts';
import { readStatus } from '../../../../src/domain/activities/reading.ts';
import { snapMessage, snapOperationSummary } from '../../../../src/domain/activities/snap-actions.ts';
import { ACTIVITY_STATUSES, type ActivityStatus, isFinal } from '../../../../src/domain/activities/status.ts';
import { countDifference, rollUp } from '../../../../src/domain/engine/roll-up.ts';
import fc from '../../../support/common/random.ts';

const counts = (set: Partial<Parameters<typeof rollUp>[0]>) => ({
  open: 0,
  delivered: 0,
  succeeded: 0,
  failed: 0,
  canceled: 0,
  ...set,
});

describe('roll-up', () => {
  it.each([
    [{}, false, 'succeeded'],
    [{ open: 3 }, false, 'undelivered'],
    [{ open: 3, delivered: 1 }, true, 'delivered'],
    [{ open: 3, canceled: 1 }, false, 'undelivered'],
    [{ open: 3, failed: 1 }, false, 'undelivered'],
    [{ open: 3, canceled: 1 }, true, 'delivered'],
    [{ succeeded: 2 }, true, 'succeeded'],
    [{ succeeded: 2, canceled: 1 }, true, 'canceled'],
    [{ succeeded: 2, canceled: 1, failed: 1 }, true, 'failed'],
    [{ canceled: 2 }, false, 'canceled'],
    [{ canceled: 2, failed: 1 }, false, 'failed'],
  ])('reads %j, delivered %j, as %s', (set, wasDelivered, status) => {
    expect(rollUp(counts(set), wasDelivered)).toBe(status);
  });

  it('moves counters so that they stay a recount', () => {
    const status = fc.constantFrom(...ACTIVITY_STATUSES);
    fc.assert(
      fc.property(fc.array(fc.tuple(status, status), { maxLength: 50 }), (moves) => {
        const recount = (all: readonly string[]) => ({
          open: all.filter((s) => !isFinal(s as (typeof ACTIVITY_STATUSES)[number])).length,
          delivered: all.filter((s) => s === 'delivered').length,
          succeeded: all.filter((s) => s === 'succeeded').length,
          failed: all.filter((s) => s === 'failed').length,
          canceled: all.filter((s) => s === 'canceled').length,
        });
        const before = recount(moves.map(([from]) => from));
        const after = recount(moves.map(([, to]) => to));
        const difference = countDifference(moves.map(([from, to]) => ({ from, to, count: 1 })));
        for (const key of Object.keys(before) as Array<keyof typeof before>) {
          expect(before[key] + difference[key]).toBe(after[key]);
        }
      }),
    );
  });
});

describe('reading a status', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const later = new Date('2026-11-21T12:00:01Z');

  it('shows a delivery in the future and a full queue', () => {
    const reading = (deliverAt: Date | null, held: boolean, onlyLater = false) =>
      readStatus({ status: 'undelivered', deliverAt, held, onlyLater }, now);
    expect(reading(later, true)).toBe('scheduled');
    expect(reading(now, true)).toBe('waiting');
    expect(reading(null, false)).toBe('undelivered');
    expect([reading(now, true, true), reading(now, false, true)]).toEqual(['scheduled', 'scheduled']);
  });

  it('shows every other status as it is stored', () => {
    for (const status of ACTIVITY_STATUSES.filter((s) => s !== 'undelivered')) {
      expect(readStatus({ status, deliverAt: later, held: true, onlyLater: true }, now)).toBe(status);
    }
  });
});

describe('actions', () => {
  const operation = {
    type: 'InstallSnaps',
    childTypes: [],
    childrenCount: 0,
    undoable: true,
    lost: false,
    runnable: true,
  };
  const group = (...childTypes: string[]) => ({
    type: 'ActivityGroup',
    childTypes,
    childrenCount: 2,
    undoable: true,
    lost: false,
    runnable: true,
  });

  it('cancels what is open and repeats what has ended', () => {
    for (const status of ACTIVITY_STATUSES) {
      const { cancelable, reappliable, approvable } = actionsOf({ ...operation, status }, true);
      expect(cancelable).toBe(!isFinal(status));
      expect(reappliable).toBe(isFinal(status));
      expect(approvable).toBe(status === 'unapproved');
    }
  });

  it('reverts only what has an inverse and is not undone, of a group that has ended also with failures', () => {
    const revertable = (subject: Omit<ActivitySubject, 'status'>, status: ActivityStatus = 'succeeded') =>
      actionsOf({ ...subject, status }, true).revertable;
    expect(revertable(operation)).toBe(true);
    expect(revertable(operation, 'failed')).toBe(false);
    expect(revertable({ ...operation, type: 'RemoveSnaps' })).toBe(false);
    expect(revertable({ ...operation, undoable: false })).toBe(false);
    for (const status of ACTIVITY_STATUSES) expect(revertable(group('HoldSnaps'), status)).toBe(isFinal(status));
    expect(revertable({ ...group('HoldSnaps'), undoable: false }, 'failed')).toBe(false);
    expect(revertable({ ...group('HoldSnaps'), lost: true })).toBe(true);
    expect(revertable(group('HoldSnaps', 'RestartRequest'))).toBe(false);
  });

  it('repeats neither recovery keys nor audits', () => {
    const reappliable = (type: string, childTypes: string[]) =>
      actionsOf({ ...group(...childTypes), type, status: 'succeeded' }, true).reappliable;
    expect(reappliable('ActivityGroup', ['GenerateFDERecoveryKeyRequest'])).toBe(false);
    expect(reappliable('UsgActivity', ['UsgActivity', 'RestartRequest'])).toBe(false);
    expect(reappliable('ActivityGroup', ['InstallSnaps'])).toBe(true);
  });

  it('neither repeats nor undoes what was done on a computer that has left', () => {
    const subject = { ...operation, status: 'succeeded', lost: true } as const;
    expect(actionsOf(subject, true)).toMatchObject({ reappliable: false, revertable: false });
  });

  it('allows nothing to whom may not manage every computer concerned', () => {
    for (const status of ACTIVITY_STATUSES) {
      expect(Object.values(actionsOf({ ...operation, status }, false))).toEqual([false, false, false, false]);
    }
  });
});

describe('snap messages', () => {
  const snap = { name: 'hello', channel: 'latest/edge', revision: '42', classic: true, time: 'forever' };

  it.each([
    ['install', { channel: 'latest/edge', revision: '42', classic: true }],
    ['refresh', { channel: 'latest/edge', revision: '42' }],
    ['hold', { hold_level: 'general', time: 'forever' }],
    ['remove', undefined],
    ['unhold', undefined],
  ] as const)('sends with %s the arguments its agent knows, and no other', (action, args) => {
    const entry = args === undefined ? { name: 'hello' } : { name: 'hello', args };
    expect(snapMessage(action, [snap])).toEqual({ type: `${action}-snaps`, fields: { snaps: [entry] } });
  });

  it('names the snaps in the summary, few of them', () => {
    const named = (...names: string[]) =>
      snapOperationSummary(
        'install',
        names.map((name) => ({ name })),
      );
    expect(named('a')).toBe('Install snap a');
    expect(named('a', 'b', 'c')).toBe('Install snaps a, b, c');
    expect(named('a', 'b', 'c', 'd', 'e')).toBe('Install snaps a, b, c and 2 more');
  });
});
