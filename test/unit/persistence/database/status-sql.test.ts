import { describe, expect, it } from 'vitest';
import { ACTIVITY_STATUSES, canTransition } from '../../../../src/domain/activities/status.ts';
import { isOpen, transitionGuard } from '../../../../src/persistence/database/status-sql.ts';

describe('conditions of statements that move activities', () => {
  it('are what the table of transitions allows, and nothing else can be made', () => {
    for (const from of ACTIVITY_STATUSES) {
      for (const to of ACTIVITY_STATUSES) {
        if (canTransition(from, to)) expect(transitionGuard('a.status', [from], to)).toBe(`a.status in ('${from}')`);
        else expect(() => transitionGuard('a.status', [from], to)).toThrow(`no activity goes from ${from} to ${to}`);
      }
    }
    expect(() => transitionGuard('status', ['delivered'], 'failed', 'undelivered')).toThrow();
  });

  it('find what has not ended', () => {
    expect(isOpen('a.status')).toBe(`a.status not in ('succeeded', 'failed', 'canceled')`);
  });
});
