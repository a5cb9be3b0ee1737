import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activities/workflow-id.ts';
import type { Sql } from '../database/sql.ts';

export interface Startable {
  batch: number | null;
  /** The batch is that of a group of one computer, whose workflow it shares. */
  isWholeGroup: boolean;
  workflowId: string;
  single: boolean;
  activityId: number;
  accountId: number;
  type: string;
  summary: string;
  groupId: number | null;
  computerId: number | null;
  /** The first operation of a batch of one computer. */
  operationId: number | null;
  personId: number | null;
  /** The profile of the run, by its schedule id; null for none. */
  profileId: string | null;
  computers: number;
}

/** The groups among `ids` and the operations without a group, as their workflows are started. */
export function readStartableActivities(db: Sql, ids: readonly number[]): Promise<Startable[]> {
  return db.query<Startable>(ACTIVITIES, { ids }, 'startable-activities');
}

/** Batches as top-level workflows, to restart them. */
export function readStartableBatches(db: Sql, batches: readonly number[]): Promise<Startable[]> {
  return db.query<Startable>(BATCHES, { batches });
}

// Not from the parameters of a group: those of a repetition name the profile too.
const profileOf = (group: string) => `(
  select 'usg/' || r.profile_id from usg_run r where r.activity_id = ${group}
  union all select 'script/' || r.profile_id from script_profile_run r where r.activity_id = ${group} limit 1)`;

// An unblocked operation is the first of its chain. A script that ran on no computer has none.
const typeOf = (group: string) => `case when ${group}.type <> '${ACTIVITY_GROUP}' then ${group}.type else coalesce(
    (select c.type from activity c where c.parent_id = ${group}.id and c.blocked_by is null limit 1),
    case when ${group}.parameters->>'operation' = 'run-script' then 'ExecuteScriptRequest' end, ${group}.type) end`;

const isWholeGroup = `coalesce(l.wf_id = '${ACTIVITY_WORKFLOW_PREFIX}' || l.parent_id, false)`;

const ACTIVITIES = `
  select l.id as batch, coalesce(l.wf_id, '${ACTIVITY_WORKFLOW_PREFIX}' || a.id) as "workflowId", coalesce(l.single, false) as single,
    ${isWholeGroup} as "isWholeGroup", a.id as "activityId", a.account_id as "accountId",
    ${typeOf('a')} as type, coalesce(l.summary, a.summary) as summary,
    case when a.lane_id is null then a.id else a.parent_id end as "groupId",
    case when l.single then o.computer_id end as "computerId", case when l.single then o.id end as "operationId",
    case when a.lane_id is null then a.computer_count else l.size end as computers,
    a.creator_id as "personId",
    ${profileOf('a.id')} as "profileId"
  from activity a
  left join lane l on l.id = coalesce(a.lane_id, (select id from lane where wf_id = '${ACTIVITY_WORKFLOW_PREFIX}' || a.id))
  left join lateral (select id, computer_id from activity where lane_id = l.id order by id limit 1) o on l.single
  where a.id = any(:ids::int[])`;

const BATCHES = `
  select l.id as batch, l.wf_id as "workflowId", l.single, ${isWholeGroup} as "isWholeGroup",
    coalesce(l.parent_id, a.id) as "activityId",
    l.account_id as "accountId", a.type, l.summary, l.parent_id as "groupId",
    case when l.single then a.computer_id end as "computerId", case when l.single then a.id end as "operationId",
    l.size as computers, a.creator_id as "personId", ${profileOf('l.parent_id')} as "profileId"
  from lane l join lateral (select id, type, computer_id, creator_id from activity where lane_id = l.id order by id limit 1) a on true
  where l.id = any(:batches::int[])`;
