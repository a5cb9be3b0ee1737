import { describe, expect, it } from 'vitest';
import { type Audit, auditState, lastAudits, rulesText } from '../../../web/src/pages/computer/audits.ts';

const audit = (id: number, over: Partial<Audit> = {}): Audit => ({
  profile: { id, title: `Profile ${id}` },
  mode: 'audit',
  activity_id: 1,
  started_at: '2026-11-01T02:00:00Z',
  reported_at: '2026-11-01T02:01:00Z',
  result: 'pass',
  open: false,
  passed_rules: 3,
  failed_rules: 0,
  reason: null,
  ...over,
});

describe('audits of a computer', () => {
  it('give each profile its newest result, and what is not over', () => {
    const running = audit(1, { result: 'in-progress', open: true });
    const canceled = audit(2, { result: 'not-started' });
    const [newest, older, other] = [audit(1, { result: 'fail' }), audit(1), audit(2)];
    const audits = [running, canceled, newest, older, other];
    expect(lastAudits([{ id: 1 }, { id: 2 }, { id: 3 }], audits)).toEqual([
      { profile: { id: 1 }, last: newest, current: running },
      { profile: { id: 2 }, last: other, current: null },
      { profile: { id: 3 }, last: null, current: null },
    ]);
  });

  it.each<[Partial<Audit>, string, string | null]>([
    [{}, 'Passed', 'All 3 passed'],
    [{ result: 'fail', failed_rules: 2 }, 'Failed', '2 of 5 failed'],
    [{ result: 'fail', passed_rules: null, failed_rules: null, reason: 'No report.' }, 'Not audited', 'No report.'],
    [{ result: 'fail', passed_rules: null, failed_rules: null }, 'Not audited', null],
    [{ result: 'in-progress', open: true, passed_rules: null, failed_rules: null }, 'In progress', null],
    [{ result: 'not-started', open: true, passed_rules: null, failed_rules: null }, 'Waiting', null],
    [{ result: 'not-started', passed_rules: null, failed_rules: null }, 'Canceled', null],
  ])('are described by %j', (over, label, rules) => {
    expect([auditState(audit(1, over)).label, rulesText(audit(1, over))]).toEqual([label, rules]);
  });
});
