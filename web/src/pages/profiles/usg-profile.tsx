import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Facts, PageLayout, Section, Skeleton } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { download } from './download.ts';
import { isRunOpen } from './open-runs.ts';
import { ArchiveButton, RunButton, scopeText, UpcomingDates } from './profile-parts.tsx';
import { BENCHMARKS, MODES } from './profile-rows.ts';
import { usgProfileQuery } from './queries.ts';
import type { UsgProfile } from './profile-types.ts';
import { describeRule } from './recurrence.ts';
import { UsgRuns } from './runs-table.tsx';
import { useOpenRun } from './use-open-run.ts';
import { UsgReport } from './usg-report.tsx';

const ComplianceChart = lazy(async () => ({ default: (await import('./compliance-chart.tsx')).ComplianceChart }));
const PERIODS = ['30', '90', '365'];

/** A USG profile: what it does, where, when, and with which results. */
export function UsgProfilePage({ id }: { id: number }) {
  const { data: profile, error } = useQuery(usgProfileQuery(id));
  useOpenRun('usg', id, profile !== undefined && isRunOpen(profile));
  if (!profile) {
    return (
      <PageLayout title="USG profile">{error ? <ErrorMessage error={error} /> : <Skeleton lines={8} />}</PageLayout>
    );
  }
  return (
    <PageLayout title={profile.title} aside={<UsgState profile={profile} />} actions={<UsgActions profile={profile} />}>
      <UsgFacts profile={profile} />
      <Results id={id} />
      <UsgRuns id={id} />
      <div className="section-columns">
        <UpcomingDates kind="usg" id={id} empty="It does not run again by its schedule." />
        <UsgReport key={profile.last_run_results.timestamp} profile={profile} />
      </div>
    </PageLayout>
  );
}

function UsgState({ profile }: { profile: UsgProfile }) {
  if (profile.status === 'archived') return <StateMark tone="idle">Archived</StateMark>;
  return isRunOpen(profile) ? <StateMark tone="busy">Running</StateMark> : <StateMark tone="good">Active</StateMark>;
}

function UsgActions({ profile }: { profile: UsgProfile }) {
  const can = useCan();
  const { id, title, status, associated_instances: computers } = profile;
  if (status === 'archived' || !can('ManageUsgProfile', profile.access_group)) return null;
  const path = { usg_profile_id: id };
  return (
    <>
      <RunButton
        verb="Run"
        title="Run this profile now?"
        request={{ method: 'POST', path: `/usg-profiles/${id}:execute` }}
        command={['usg', 'run', String(id)]}
        run={async () => (await client.POST('/usg-profiles/{usg_profile_id}:execute', { params: { path } })).data}
      >
        <p>
          {MODES[profile.mode]} on {computers === 1 ? '1 computer' : `${computers} computers`}, in addition to the
          schedule. Computers on which it is running already are left out.
        </p>
      </RunButton>
      <Link className="button" to="/profiles/$kind/$profileId/edit" params={{ kind: 'usg', profileId: String(id) }}>
        Edit
      </Link>
      <ArchiveButton
        kind="usg"
        id={id}
        title={title}
        request={{ method: 'POST', path: `/usg-profiles/${id}:archive` }}
        archive={() => client.POST('/usg-profiles/{usg_profile_id}:archive', { params: { path } })}
      />
    </>
  );
}

function UsgFacts({ profile }: { profile: UsgProfile }) {
  const { last_run_results: last, tailoring_file_uri: tailoring, mode } = profile;
  const query = `profile:usg:${profile.id}`;
  const benchmark = BENCHMARKS[profile.benchmark] ?? profile.benchmark;
  return (
    <Facts
      items={[
        ['Does', MODES[mode]],
        ['Benchmark', tailoring === null ? benchmark : <TailoringFile key="file" path={tailoring} />],
        ['Schedule', `${describeRule(profile.schedule)} (${profile.timezone})`],
        ['Next run', <Time key="next" value={profile.next_run_time} />],
        ['For', <bdi key="scope">{scopeText(profile)}</bdi>],
        ['Access group', profile.access_group],
        ['Computers', <Computers key="computers" count={profile.associated_instances} query={query} />],
        ['Last run', <Time key="last" value={last.timestamp} />],
        ['Passing', <Computers key="passing" count={last.passing} query={`${query}:pass`} />],
        ['Failing', <Computers key="failing" count={last.failing} query={`${query}:fail`} />],
        ['Passing share', last.pass_rate === null ? null : `${last.pass_rate} %`],
        ...(mode === 'fix-restart-audit' ? [['Restart', restartText(profile)] as const] : []),
        ['Results are kept', profile.retention_period < 0 ? 'Forever' : `${profile.retention_period} days`],
        ['Created', <Time key="created" value={profile.creation_time} />],
        ['Changed', <Time key="changed" value={profile.modification_time} />],
      ]}
    />
  );
}

function restartText({ restart_deliver_delay: hours, restart_deliver_delay_window: minutes }: UsgProfile): string {
  const when = hours === 0 ? 'Right after the fix' : `${hours} h after the fix`;
  return minutes === 0 ? when : `${when}, spread over ${minutes} min`;
}

function Computers({ count, query }: { count: number; query: string }) {
  return count === 0 ? (
    0
  ) : (
    <Link to="/computers" search={{ query }}>
      {count}
    </Link>
  );
}

function TailoringFile({ path }: { path: string }) {
  const save = async () => {
    const { data } = await client.GET('/usg-profiles/blob', { params: { query: { path } } });
    download(`${path}.xml`, (data as { file_content: string }).file_content, 'application/xml');
  };
  return (
    <button type="button" className="link-button" onClick={() => void save()}>
      Tailoring file
    </button>
  );
}

function Results({ id }: { id: number }) {
  const { get, set } = usePageSearch();
  const days = PERIODS.find((period) => period === get('days')) ?? PERIODS[0]!;
  return (
    <Section
      title="Results over time"
      actions={
        <select
          className="input profile-choice"
          aria-label="Period"
          value={days}
          onChange={({ target }) => set({ days: target.value })}
        >
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {period} days
            </option>
          ))}
        </select>
      }
    >
      <Suspense fallback={<Skeleton lines={4} />}>
        <ComplianceChart usgProfileId={id} days={Number(days)} />
      </Suspense>
    </Section>
  );
}
