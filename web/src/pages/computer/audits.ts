import type { components } from '@flotilla/client';

interface AuditState {
  tone: 'good' | 'bad' | 'busy' | 'idle';
  label: string;
}

/** What became of a computer in one run of a USG profile. */
export type Audit = components['schemas']['UsgAudit'];

/** The last result of each profile, and its audit that is not over; `audits` come newest first. */
export function lastAudits<P extends { id: number }>(profiles: readonly P[], audits: readonly Audit[]) {
  return profiles.map((profile) => {
    const own = audits.filter((audit) => audit.profile.id === profile.id);
    return { profile, last: own.find(hasResult) ?? null, current: own.find(({ open }) => open) ?? null };
  });
}

/** Whether the audit is over and has a result. */
export function hasResult({ result }: Audit): boolean {
  return result === 'pass' || result === 'fail';
}

/** What administrators call the result of an audit, and how it looks. */
export function auditState({ result, open, failed_rules: failed }: Audit): AuditState {
  switch (result) {
    case 'pass':
      return { tone: 'good', label: 'Passed' };
    case 'fail':
      return { tone: 'bad', label: failed === null ? 'Not audited' : 'Failed' };
    case 'in-progress':
      return { tone: 'busy', label: 'In progress' };
    case 'not-started':
      return { tone: 'idle', label: open ? 'Waiting' : 'Canceled' };
  }
}

/** How many rules failed, or why that is not known. */
export function rulesText({ passed_rules: passed, failed_rules: failed, reason }: Audit): string | null {
  if (passed === null || failed === null) return reason;
  return failed === 0 ? `All ${passed} passed` : `${failed} of ${passed + failed} failed`;
}
