import { describe, expect, it } from 'vitest';
import { ACTIVITY_STATUSES, canTransition, FINAL_STATUSES, isFinal } from '../../../../src/domain/activities/status.ts';

describe('activity status', () => {
  it('leaves a final state only from canceled, and only to a reported outcome', () => {
    for (const from of FINAL_STATUSES) {
      const next = ACTIVITY_STATUSES.filter((to) => canTransition(from, to));
      expect(next).toEqual(from === 'canceled' ? ['succeeded', 'failed'] : []);
    }
  });

  it('lets every open state end', () => {
    for (const from of ACTIVITY_STATUSES.filter((status) => !isFinal(status))) {
      expect(canTransition(from, 'canceled')).toBe(true);
    }
  });
});
