import { describe, expect, it } from 'vitest';
import { progressText, waitingOf } from '../../../web/src/pages/activities/counts.ts';
import { readableResult } from '../../../web/src/pages/activities/result-text.ts';

describe('readableResult', () => {
  it.each([
    [null, ''],
    ['  done\n', 'done'],
    ["no handler for 'install-snaps'", "no handler for 'install-snaps'"],
    [
      `{'completed': [], 'errored': [], 'errors': {'BATCH': {'message': 'cannot install "x": snap not found'}}}`,
      'cannot install "x": snap not found',
    ],
    [`{'completed': [], 'errors': {'BATCH': {'message': "it's full"}}}`, "it's full"],
    [`{'completed': [], 'errors': {'a': {'message': 'it\\'s "full"\\nnow'}}}`, `it's "full" now`],
    [`{'completed': [], 'errors': {'a': {'message': 'same'}, 'b': {'message': 'same'}}}`, 'same'],
    [`{'completed': [], 'errors': {'a': {'message': 'one'}, 'b': {'message': 'two'}}}`, 'one · two'],
    [`{'completed': [], 'errors': {'a': {'message': 'cut off in the mid`, 'cut off in the mid'],
    [`{'completed': ['hello'], 'errored': [], 'errors': {}}`, ''],
  ])('shows %j as %j', (text, shown) => {
    expect(readableResult(text)).toBe(shown);
  });
});

describe('progressText', () => {
  const none = { succeeded: 0, failed: 0, canceled: 0, delivered: 0, total: 0 };

  it('names what there is', () => {
    const counts = { ...none, succeeded: 12, failed: 2, delivered: 5, total: 20 };
    expect(waitingOf(counts)).toBe(1);
    expect(progressText(counts)).toBe('12 succeeded, 2 failed, 5 in progress, 1 to go of 20');
    expect(progressText({ ...none, canceled: 3, total: 3 })).toBe('3 canceled of 3');
  });
});
