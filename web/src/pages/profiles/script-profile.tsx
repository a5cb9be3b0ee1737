import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Facts, PageLayout, Skeleton } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { describeCron } from './cron.ts';
import { isScriptRunOpen } from './open-runs.ts';
import { ArchiveButton, scopeText, UpcomingDates } from './profile-parts.tsx';
import { scriptProfileQuery, scriptTitlesQuery } from './queries.ts';
import type { ScriptProfile } from './profile-types.ts';
import { ScriptRuns } from './runs-table.tsx';
import { useOpenRun } from './use-open-run.ts';

/** A script profile: what it runs, where, when, and how that went. */
export function ScriptProfilePage({ id }: { id: number }) {
  const { data: profile, error } = useQuery(scriptProfileQuery(id));
  useOpenRun('script', id, profile !== undefined && isScriptRunOpen(profile));
  if (!profile) {
    const title = 'Script profile';
    return <PageLayout title={title}>{error ? <ErrorMessage error={error} /> : <Skeleton lines={8} />}</PageLayout>;
  }
  const aside = profile.archived ? (
    <StateMark tone="idle">Archived</StateMark>
  ) : (
    <StateMark tone="good">Active</StateMark>
  );
  const isEvent = profile.trigger.trigger_type === 'event';
  return (
    <PageLayout title={profile.title} aside={aside} actions={<ScriptProfileActions profile={profile} />}>
      <ScriptFacts profile={profile} />
      <ScriptRuns id={id} />
      <UpcomingDates
        kind="script"
        id={id}
        empty={isEvent && !profile.archived ? 'It runs when a computer is enrolled.' : 'It does not run again.'}
      />
    </PageLayout>
  );
}

function ScriptProfileActions({ profile }: { profile: ScriptProfile }) {
  const can = useCan();
  const { id, title, archived, access_group, script_id, trigger } = profile;
  if (archived) return null;
  const path = { script_profile_id: id };
  const canRun = can('ExecuteScript', access_group);
  const run = { script: String(script_id), query: `profile:script:${id}` };
  return (
    <>
      {canRun && trigger.trigger_type !== 'event' && (
        <Link className="button button-primary" to="/act/$action" params={{ action: 'run-script' }} search={run}>
          Run
        </Link>
      )}
      {canRun && can('ManageScriptProfile', access_group) && (
        <>
          <Link
            className="button"
            to="/profiles/$kind/$profileId/edit"
            params={{ kind: 'script', profileId: String(id) }}
          >
            Edit
          </Link>
          <ArchiveButton
            kind="script"
            id={id}
            title={title}
            request={{ method: 'POST', path: `/script-profiles/${id}:archive` }}
            archive={() => client.POST('/script-profiles/{script_profile_id}:archive', { params: { path } })}
          />
        </>
      )}
    </>
  );
}

function ScriptFacts({ profile }: { profile: ScriptProfile }) {
  const can = useCan();
  const { data: titles } = useQuery({ ...scriptTitlesQuery, enabled: can('ViewScript') });
  const { trigger, script_id, computers } = profile;
  const count = computers.num_associated_computers;
  const query = `profile:script:${profile.id}`;
  return (
    <Facts
      items={[
        [
          'Script',
          <Link key="script" to="/scripts/$scriptId" params={{ scriptId: String(script_id) }}>
            <bdi>{titles?.get(script_id) ?? `Script ${script_id}`}</bdi>
          </Link>,
        ],
        ['Runs', whenText(profile)],
        ['Next run', trigger.trigger_type === 'event' ? null : <Time key="next" value={trigger.next_run} />],
        ['Last run', <Time key="last" value={profile.activities.last_activity?.creation_time} />],
        ['For', <bdi key="scope">{scopeText(profile)}</bdi>],
        ['Access group', profile.access_group],
        [
          'Computers',
          count === 0 ? null : (
            <Link key="computers" to="/computers" search={{ query }}>
              {count}
            </Link>
          ),
        ],
        ['Runs as', <bdi key="user">{profile.username}</bdi>],
        ['Time limit', `${profile.time_limit} s`],
        ['Created by', <bdi key="creator">{profile.created_by.name}</bdi>],
        ['Created', <Time key="created" value={`${profile.created_at}Z`} />],
        ['Changed', <Time key="changed" value={`${profile.last_edited_at}Z`} />],
      ]}
    />
  );
}

function whenText({ trigger, timezone }: ScriptProfile): string {
  switch (trigger.trigger_type) {
    case 'event':
      return 'When a computer is enrolled';
    case 'one_time':
      return trigger.is_finished ? 'Once, and has run' : 'Once';
    case 'recurring':
      return `${describeCron(trigger.interval)} (${timezone})`;
  }
}
