import { describe, expect, it } from 'vitest';
import { batchProgress, groupProgress, progressLine, rowsProgress } from '../../../workflows/support/details.ts';

const NONE = { succeeded: 0, failed: 0, canceled: 0, nextDueAt: null };
const NAMED = ['web-1', 'web-2', 'web-3'];

describe('the line of a batch', () => {
  it('counts operations where a computer has several, and names computers', () => {
    const progress = { ...NONE, open: 90, waitingFor: NAMED, moreWaiting: 27, chained: true };
    const line = '0 of 90 operations done; waiting for web-1, web-2, web-3 and 27 more computers';
    expect(progressLine(batchProgress(progress))).toBe(line);
    expect(progressLine(batchProgress({ ...progress, moreWaiting: 1 }))).toBe(
      line.replace('27 more computers', '1 more computer'),
    );
    expect(
      progressLine(
        batchProgress({ ...NONE, succeeded: 1, open: 2, waitingFor: ['web-1'], moreWaiting: 0, chained: true }),
      ),
    ).toBe('1 of 3 operations done; waiting for web-1');
  });

  it('counts computers otherwise, also as older builds recorded them', () => {
    const progress = { ...NONE, succeeded: 1, open: 5, waitingFor: NAMED };
    const line = '1 of 6 computers done; waiting for web-1, web-2, web-3 and 2 more';
    expect(progressLine(batchProgress(progress))).toBe(line);
    expect(progressLine(batchProgress({ ...progress, moreWaiting: 2, chained: false }))).toBe(line);
  });

  it('counts only where no computer is named', () => {
    expect(progressLine(batchProgress({ ...NONE, open: 1500, waitingFor: [], chained: false }))).toBe(
      '0 of 1,500 computers done',
    );
  });
});

describe('the line of a group', () => {
  const plan = { batch: 1, workflowId: 'activity/1', single: false, summary: 'computers 1-30 of 30' };

  it('counts the computers of its batches, each once', () => {
    const chains = { ...plan, size: 90, computers: 30 };
    expect(progressLine(groupProgress([chains], [chains]))).toBe(
      '0 of 30 computers done; waiting for computers 1-30 of 30',
    );
    const older = { ...plan, size: 500 };
    expect(progressLine(groupProgress([chains, older], [older]))).toBe(
      '30 of 530 computers done; waiting for computers 1-30 of 30',
    );
  });

  it('counts what its rows count', () => {
    const progress = { open: 2, status: 'open', succeeded: 1, failed: 0, canceled: 0 } as const;
    expect(progressLine(rowsProgress(progress, [{ ...plan, size: 3, computers: 3 }]))).toBe('1 of 3 computers done');
    expect(progressLine(rowsProgress(progress, [{ ...plan, size: 3, computers: 1 }]))).toBe('1 of 3 operations done');
  });
});
