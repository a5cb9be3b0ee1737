import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { LineList } from './line-list.tsx';

const SHOWN = 8;
const REFRESH_MS = 60_000;

/** USG profiles that computers failed in the last run. */
export function FailingUsgProfiles() {
  const { data, error } = useQuery({
    queryKey: ['profiles', 'failing', 'usg'],
    queryFn: async ({ signal }) => {
      const query = { status: 'active', pass_rate_to: 99, limit: SHOWN } as const;
      return (await client.GET('/usg-profiles', { params: { query }, signal })).data;
    },
    enabled: useCan()('ViewUsgProfile'),
    refetchInterval: REFRESH_MS,
  });
  return (
    <LineList
      title="USG profiles with failing computers"
      items={data?.results}
      count={data?.count}
      error={error}
      actions={<Link to="/profiles">All profiles</Link>}
    >
      {({ id, title, last_run_results: { failing, pass_rate, timestamp } }) => (
        <>
          <ProfileMark kind="usg" id={id} title={title} />
          <Time value={timestamp} format="relative" />
          <span className="line-number quiet">{pass_rate} % pass</span>
          <Link
            to="/computers"
            search={{ query: `profile:usg:${id}:fail` }}
            aria-label={`${failing} failing: ${title}`}
          >
            {failing.toLocaleString()} failing
          </Link>
        </>
      )}
    </LineList>
  );
}

/** Script profiles whose last run failed somewhere. A deployment without script profiles has none. */
export function FailingScriptProfiles() {
  const { data } = useQuery({
    queryKey: ['profiles', 'failing', 'script'],
    queryFn: async ({ signal }) => {
      const { data: page } = await client.GET('/script-profiles', { params: { query: { status: 'active' } }, signal });
      return page.results.filter(({ activities }) => activities.last_activity?.activity_status === 'failed');
    },
    enabled: useCan()('ViewScriptProfile'),
    refetchInterval: REFRESH_MS,
  });
  return (
    <LineList title="Script profiles whose last run failed" items={data} error={null}>
      {({ id, title, activities: { last_activity: run } }) => (
        <>
          <ProfileMark kind="script" id={id} title={title} />
          <Time value={run!.creation_time} format="relative" />
          <Link to="/activities/$activityId" params={{ activityId: String(run!.id) }} aria-label={`Last run: ${title}`}>
            {run!.children_statuses.bad.toLocaleString()} failed or canceled
          </Link>
        </>
      )}
    </LineList>
  );
}

function ProfileMark({ kind, id, title }: { kind: 'usg' | 'script'; id: number; title: string }) {
  return (
    <>
      <StateMark tone="bad" hideText>
        Failing
      </StateMark>
      <Link
        to="/profiles/$kind/$profileId"
        params={{ kind, profileId: String(id) }}
        className="line-text"
        title={title}
      >
        <bdi>{title}</bdi>
      </Link>
    </>
  );
}
