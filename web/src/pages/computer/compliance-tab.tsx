import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { EmptyState, Section } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { PlainTable } from './plain-table.tsx';
import type { ComputerDetail } from './use-computer.ts';

type Profile = NonNullable<ComputerDetail['profiles']>[number];

/** Whether a computer passes the audits of its USG profiles. */
export function ComplianceTab({ computer: { id, profiles = [] } }: { computer: ComputerDetail }) {
  const audits = profiles.filter(({ type }) => type === 'usg');
  const results = useQueries({
    queries: audits.map((profile) => ({
      queryKey: ['computer', id, 'compliance', profile.id],
      queryFn: ({ signal }: { signal: AbortSignal }) => readResult(id, profile.id, signal),
    })),
  });
  if (audits.length === 0) {
    return (
      <EmptyState title="No USG profile applies to this computer">
        A USG profile audits computers against a security benchmark. <Link to="/profiles">Profiles</Link> lists them and
        creates new ones.
      </EmptyState>
    );
  }
  return (
    <Section title="USG audits">
      <PlainTable
        label="USG audits"
        head={['Profile', 'Last result', 'Now']}
        rows={audits.map((profile, index) => ({
          key: String(profile.id),
          cells: [<ProfileLink key="profile" {...profile} />, ...resultCells(results[index]?.data)],
        }))}
      />
    </Section>
  );
}

interface Result {
  last: 'pass' | 'fail' | null;
  isRunning: boolean;
}

/** The query language knows the last result of a computer; the files of a report have its rules. */
async function readResult(computer: number, profile: number, signal: AbortSignal): Promise<Result> {
  const has = async (status: string) => {
    const query = `id:${computer} profile:usg:${profile}:${status}`;
    return (
      (await client.GET('/computers', { params: { query: { query, root_only: false, limit: 0 } }, signal })).data
        .count > 0
    );
  };
  const [passes, fails, isRunning] = await Promise.all([has('pass'), has('fail'), has('in-progress')]);
  return { last: passes ? 'pass' : fails ? 'fail' : null, isRunning };
}

function resultCells(result: Result | undefined) {
  if (!result) return [<span key="last" className="cell-skeleton" />, <span key="now" className="cell-skeleton" />];
  const last =
    result.last === null ? (
      <StateMark key="last" tone="idle">
        Never audited
      </StateMark>
    ) : (
      <StateMark key="last" tone={result.last === 'pass' ? 'good' : 'bad'}>
        {result.last === 'pass' ? 'Passed' : 'Failed'}
      </StateMark>
    );
  const now = result.isRunning ? (
    <StateMark key="now" tone="busy">
      Audit in progress
    </StateMark>
  ) : null;
  return [last, now];
}

function ProfileLink({ id, title }: Profile) {
  return (
    <Link to="/profiles/$kind/$profileId" params={{ kind: 'usg', profileId: String(id) }}>
      <bdi>{title}</bdi>
    </Link>
  );
}
