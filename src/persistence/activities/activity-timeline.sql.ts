import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import type { Sql } from '../database/sql.ts';
import { statusList } from '../database/status-sql.ts';
import type { ActivityScope } from '../query/activity-visibility.ts';
import { NOW } from '../query/compilation.ts';
import { OWN, ownedBy, type StoryRow } from './activity-computers.sql.ts';

/** How many operations had got how far at a moment. */
export interface TimelinePoint {
  time: Date;
  /** Received by their computers, and not ended. */
  delivered: number;
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Whole seconds from the creation of an activity to its end, or to now, at most `points` steps apart. */
export async function readTimeline(
  db: Sql,
  scope: ActivityScope,
  story: StoryRow,
  { points, now }: { points: number; now: Date },
): Promise<TimelinePoint[]> {
  const { creation_time: created, completion_time: ended } = story;
  return db.query<TimelinePoint>(TIMELINE, { ...ownedBy(scope, story), created, ended, points, now });
}

const second = (time: string) => `floor(date_part('epoch', ${time}))`;

// What ended without having been delivered counts as delivered at that moment. A group's last report may come after its end.
const TIMELINE = `
  with own as materialized (
    select ${second('least(a.delivery_time, a.completion_time)')} as delivered,
      case when a.status in ${statusList(FINAL_STATUSES)} then ${second('a.completion_time')} end as ended, a.status
    from activity a where ${OWN}
  ), life as (
    select start, greatest(ceil((stop - start) / :points::int), 1) as step, stop
    from (
      select ${second(':created::timestamptz')} as start,
        case when :ended::timestamptz is null then ${second(NOW)}
          else greatest(${second(':ended::timestamptz')}, (select max(ended) from own)) end as stop) l
  ), change as (
    select ceil((delivered - start) / step)::int as point, 1 as delivered, null as status from own, life
    where delivered is not null
    union all
    select ceil((ended - start) / step)::int, -1, status from own, life
    where ended is not null
  ), counted as (
    select greatest(point, 0) as point, sum(delivered) as delivered,
      count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed,
      count(*) filter (where status = 'canceled') as canceled
    from change group by 1
  )
  select to_timestamp(least(start + point * step, stop)) as time, ${['delivered', 'succeeded', 'failed', 'canceled']
    .map((name) => `coalesce(sum(${name}) over so_far, 0)::int as ${name}`)
    .join(', ')}
  from life cross join generate_series(0, ceil((stop - start) / step)::int) as point left join counted using (point)
  window so_far as (order by point)
  order by point`;
