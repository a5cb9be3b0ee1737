import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { usePageSearch } from '../../url/use-page-search.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState, PageLayout, Skeleton } from '../../ui/page.tsx';
import { ActivityState, StateMark } from '../../ui/state-mark.tsx';
import './activities.css';
import { ActivityButtons } from './activity-buttons.tsx';
import { ActivityFacts } from './activity-facts.tsx';
import { type Activity, activityQuery, groupQuery, timelineQuery } from './activity-queries.ts';
import { ActivityResult } from './activity-result.tsx';
import { Failures } from './failures.tsx';
import { ENDED } from './line-at.ts';
import { Moment } from './moment.tsx';
import { progressText } from './counts.ts';
import { ProgressBar } from './progress.tsx';
import { Story } from './story.tsx';
import { useStoryRefresh } from './use-story-refresh.ts';

const SETTLE_MS = 400;
/** As the API sends it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** An activity: how far it is, and what became of it on each computer. */
export function Page() {
  const { activityId } = useParams({ strict: false });
  const id = Number(activityId);
  const { data: activity, error } = useQuery(activityQuery(id));
  if (activity) return <ActivityView key={id} activity={activity} />;
  return (
    <PageLayout title="Activity">
      {activity === undefined && error === null && <Skeleton lines={8} />}
      <ErrorMessage error={error} />
      {activity === null && (
        <EmptyState title="There is no such activity">
          It may have been deleted after its time of retention. See <Link to="/activities">all activities</Link>.
        </EmptyState>
      )}
    </PageLayout>
  );
}

function ActivityView({ activity }: { activity: Activity }) {
  const { id } = activity;
  const isOpen = !ENDED.includes(activity.activity_status);
  const { data: group } = useQuery(groupQuery(id));
  const total = group?.children_count ?? (activity.computer_id === undefined ? 0 : 1);
  useStoryRefresh(id, { size: total, isOpen });
  const timeline = useQuery(timelineQuery(id)).data ?? [];
  const [moment, setMoment] = useMoment();
  const point = timeline.findLast(({ time }) => moment === null || time <= moment);
  const counts = point && total > 0 ? { ...point, total } : null;
  const latest = timeline.at(-1);
  const present = latest && total > 0 ? { ...latest, total } : null;
  const hasBegun =
    timeline.length > 2 && timeline.some((at) => at.delivered + at.succeeded + at.failed + at.canceled > 0);
  return (
    <PageLayout
      title={activity.summary}
      aside={<ActivityStatus activity={activity} />}
      actions={<ActivityButtons activity={activity} group={group ?? null} counts={present} />}
      fill
    >
      <ActivityFacts activity={activity} group={group ?? null} />
      <ActivityResult activity={activity} />
      {counts && total > 1 && hasBegun && (
        <Moment points={timeline} counts={counts} isOpen={isOpen} moment={moment} onChange={setMoment} />
      )}
      {counts && total > 1 && !hasBegun && (
        <div className="activity-progress">
          <span>{progressText(counts)}</span>
          <ProgressBar counts={counts} />
        </div>
      )}
      {total > 1 && <Failures id={id} />}
      {total > 0 && <Story activity={activity} total={total} moment={moment === null ? null : Date.parse(moment)} />}
    </PageLayout>
  );
}

/** The moment that the page shows, kept in the URL once it stays; null follows the present. */
function useMoment() {
  const { get, set } = usePageSearch();
  const [moment, setMoment] = useState<string | null>(TIME.test(get('at')) ? get('at') : null);
  useEffect(() => {
    const timer = setTimeout(() => {
      if ((moment ?? '') !== get('at')) set({ at: moment ?? undefined });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  });
  return [moment, setMoment] as const;
}

function ActivityStatus({ activity: { activity_status: status, cancel_requested, progress } }: { activity: Activity }) {
  const isOpen = !ENDED.includes(status);
  return (
    <span role="status">
      {isOpen && cancel_requested ? <StateMark tone="busy">Canceling</StateMark> : <ActivityState status={status} />}
      {isOpen && progress !== undefined && progress >= 0 && <span className="quiet"> {progress} %</span>}
    </span>
  );
}
