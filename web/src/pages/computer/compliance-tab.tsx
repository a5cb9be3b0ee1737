import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { readAll } from '../../api/read-all.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState, Section, Skeleton } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { AuditState, AuditsTable, ProfileLink, RulesText } from './audits-table.tsx';
import { type Audit, lastAudits } from './audits.ts';
import { PlainTable } from './plain-table.tsx';
import type { ComputerDetail } from './use-computer.ts';

/** How often an open audit is read: its report arrives without an event. */
const OPEN_AUDIT_MS = 5000;

/** Whether a computer passes the audits of its USG profiles, and all its audits by date. */
export function ComplianceTab({ computer: { id, profiles = [] } }: { computer: ComputerDetail }) {
  const { data: audits, error } = useQuery({
    queryKey: ['computer', id, 'usg-audits'],
    queryFn: ({ signal }): Promise<Audit[]> =>
      readAll(client.items('/computers/{computer_id}/usg-audits', { params: { path: { computer_id: id } }, signal })),
    refetchInterval: ({ state }) => (state.data?.some(({ open }) => open) ? OPEN_AUDIT_MS : false),
  });
  if (!audits) return error ? <ErrorMessage error={error} /> : <Skeleton lines={8} />;
  const applying = profiles.filter(({ type }) => type === 'usg');
  return (
    <>
      <ErrorMessage error={error} />
      {applying.length > 0 ? <LastResults profiles={applying} audits={audits} /> : <NoProfiles />}
      {(applying.length > 0 || audits.length > 0) && <AuditsTable audits={audits} />}
    </>
  );
}

function NoProfiles() {
  return (
    <EmptyState title="No USG profile applies to this computer">
      A USG profile audits computers against a security benchmark. <Link to="/profiles">Profiles</Link> lists them and
      creates new ones.
    </EmptyState>
  );
}

function LastResults({ profiles, audits }: { profiles: ComputerDetail['profiles'] & {}; audits: readonly Audit[] }) {
  return (
    <Section title="USG audits">
      <PlainTable
        label="USG audits"
        head={['Profile', 'Last result', 'Rules', 'Audited', 'Now']}
        rows={lastAudits(profiles, audits).map(({ profile, last, current }) => ({
          key: String(profile.id),
          cells: [
            <ProfileLink key="profile" {...profile} />,
            last ? <AuditState key="last" audit={last} /> : <NeverAudited key="last" />,
            last && <RulesText key="rules" audit={last} />,
            last && <Time key="time" value={last.reported_at ?? last.started_at} />,
            current && <AuditState key="now" audit={current} />,
          ],
        }))}
      />
    </Section>
  );
}

function NeverAudited() {
  return <StateMark tone="idle">Never audited</StateMark>;
}
