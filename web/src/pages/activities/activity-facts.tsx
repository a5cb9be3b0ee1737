import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type Activity, activityQuery, type Group, ownLineQuery } from './activity-queries.ts';

/** Who started an activity, its times and the activities that belong to it. */
export function ActivityFacts({ activity, group }: { activity: Activity; group: Group | null }) {
  const { creator, approval_time: approved, deliver_after_time, deliver_delay_window, computer_id } = activity;
  const isLater = deliver_after_time !== null || deliver_delay_window > 0;
  const relations = RELATIONS.flatMap(([name, read]) => {
    const id = read(activity);
    return id == null ? [] : [fact(name, <ActivityLink id={id} />)];
  });
  return (
    <Facts
      items={[
        fact('Started by', creator ? <bdi title={creator.email}>{creator.name}</bdi> : 'Flotilla'),
        fact('Started', <Time value={activity.creation_time} format="full" />),
        fact('Ended', <Time value={activity.completion_time} format="full" />),
        ...(approved ? [fact('Approved', <Time value={approved} format="full" />)] : []),
        ...(isLater ? [fact('Delivered', <Delivery activity={activity} />)] : []),
        ...(group?.computer ? [fact('Computer', <ComputerLink {...group.computer} />)] : []),
        ...(computer_id === undefined ? [] : [fact('Computer', <OwnComputer id={computer_id} activity={activity} />)]),
        ...stepOf(activity).map((summary) => fact('On each computer', <bdi>{summary}</bdi>)),
        ...relations,
      ]}
    />
  );
}

const fact = (name: string, value: ReactNode) => [name, value] as const;

/** What is done on each computer, if it is the same on all that are known and the summary does not say it. */
function stepOf({ summary, children }: Activity): string[] {
  const summaries = new Set(children.map((child) => child.summary));
  return summaries.size === 1 && !summaries.has(summary) ? [...summaries] : [];
}

const RELATIONS: ReadonlyArray<readonly [string, (activity: Activity) => number | null | undefined]> = [
  ['Part of', ({ parent_id }) => parent_id],
  ['Waits for', ({ after }) => after],
  ['Repeats', ({ reapplied_from }) => reapplied_from],
  ['Repeated by', ({ reapplied_by }) => reapplied_by],
  ['Reverts', ({ reverts }) => reverts],
  ['Reverted by', ({ reverted_by }) => reverted_by],
];

function Delivery({ activity: { deliver_after_time, deliver_delay_window: window } }: { activity: Activity }) {
  return (
    <>
      {deliver_after_time ? (
        <>
          from <Time value={deliver_after_time} format="full" />
        </>
      ) : (
        'from the start'
      )}
      {window > 0 && `, spread over ${window} min`}
    </>
  );
}

/** An operation has its computer's title in its group's list of computers alone. */
function OwnComputer({ id, activity }: { id: number; activity: Activity }) {
  const { data: line } = useQuery(ownLineQuery(activity.id));
  return <ComputerLink id={id} title={line?.computer_title ?? `Computer ${id}`} />;
}

function ComputerLink({ id, title }: { id: number; title: string }) {
  return (
    <Link to="/computers/$computerId" params={{ computerId: String(id) }}>
      <bdi>{title}</bdi>
    </Link>
  );
}

/** Another activity by its summary, which may have been deleted. */
export function ActivityLink({ id }: { id: number }) {
  const { data } = useQuery(activityQuery(id));
  return (
    <Link to="/activities/$activityId" params={{ activityId: String(id) }}>
      <bdi>{data ? data.summary : `Activity ${id}`}</bdi>
    </Link>
  );
}
