import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import { type SearchAttributePair, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { ACTIVITY_GROUP } from '../../src/domain/activities/kinds.ts';
import { shortSummary } from '../../src/domain/activities/summary.ts';
import { REPORT_ACTIVITY } from '../../src/domain/compliance/report.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';
import { type ActivityInput, activityWorkflowId } from '../../workflows/contracts/activity.contract.ts';
import type { LaneInput } from '../../workflows/contracts/lane.contract.ts';
import type { ReportInput } from '../../workflows/contracts/report.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { batchWorkflow, groupWorkflow } from '../../workflows/contracts/workflow-types.ts';

/** A row that a workflow drives: a group, or a lane that is its own top workflow. */
export interface Startable {
  /** Null for a group. */
  lane: number | null;
  workflowId: string;
  single: boolean;
  activityId: number;
  accountId: number;
  /** Of a group: that of its first operation. */
  type: string;
  summary: string;
  groupId: number | null;
  computerId: number | null;
  /** The profile it is a run of, as its schedule is called; null: of none. */
  profileId: string | null;
  computers: number;
}

/**
 * `once`: never a second run of the same id. `again`: a new run when the last one is closed or gone. `instead`: a new
 * run in any case; one that goes on is terminated.
 */
export type StartMode = 'once' | 'again' | 'instead';

export interface Starter {
  /** Starts the workflow of a row. @returns false when it runs or ran already */
  start(row: Startable, mode: StartMode): Promise<boolean>;
}

/** Groups above this many computers give way to everything an administrator waits for. */
const LARGE_GROUP = 25;

/** @param publicUrl - base of the link to the API object that operators see beside a workflow */
export function createStarter(client: Client, publicUrl: string): Starter {
  return {
    async start(row, mode) {
      const common = {
        workflowId: row.workflowId,
        taskQueue: isReport(row) ? TASK_QUEUES.report : TASK_QUEUES.activity,
        typedSearchAttributes: searchAttributes(row),
        staticSummary: shortSummary(row.summary),
        staticDetails: `${publicUrl}/api/v2/activities/${row.activityId}`,
        priority: { priorityKey: priorityOf(row), fairnessKey: `acct-${row.accountId}` },
        ...policies(mode),
      } satisfies Omit<WorkflowStartOptions, 'args'>;
      const { lane } = row;
      const [type, input]: [string, ActivityInput | ReportInput | LaneInput] =
        lane === null
          ? [groupWorkflow(row.type), { id: row.activityId }]
          : [batchWorkflow(row.single), { lane, single: row.single }];
      try {
        await client.workflow.start(type, { ...common, args: [input] });
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
  };
}

function policies(mode: StartMode): Pick<WorkflowStartOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy'> {
  return mode === 'once'
    ? {
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      }
    : {
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy:
          mode === 'again' ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.TERMINATE_EXISTING,
      };
}

function searchAttributes(row: Startable): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [
    { key: SEARCH_ATTRIBUTES.accountId, value: String(row.accountId) },
    { key: SEARCH_ATTRIBUTES.activityType, value: row.type },
  ];
  if (row.groupId !== null) pairs.push({ key: SEARCH_ATTRIBUTES.groupId, value: String(row.groupId) });
  if (row.computerId !== null) pairs.push({ key: SEARCH_ATTRIBUTES.computerId, value: String(row.computerId) });
  if (row.profileId !== null) pairs.push({ key: SEARCH_ATTRIBUTES.profileId, value: row.profileId });
  return pairs;
}

function isReport({ type }: Startable): boolean {
  return type === REPORT_ACTIVITY;
}

/** 1 is the most urgent. @see docs/architecture.md#priority-and-fairness */
function priorityOf(row: Startable): number {
  if (isReport(row)) return 5;
  if (row.computers > LARGE_GROUP) return 4;
  // What an administrator asks for goes before what profiles do.
  if (row.profileId !== null) return 3;
  return row.computers > 1 ? 2 : 1;
}

/** The groups among `ids` and the operations without a group, as their workflows are started. */
export function readActivities(db: Sql, ids: readonly number[]): Promise<Startable[]> {
  return db
    .query<Omit<Startable, 'workflowId'> & { wf_id: string | null }>(ACTIVITIES, [ids])
    .then((rows) =>
      rows.map(({ wf_id, ...row }) => ({ ...row, workflowId: wf_id ?? activityWorkflowId(row.activityId) })),
    );
}

/** Lanes as top workflows, for starting them again. */
export function readLanes(db: Sql, lanes: readonly number[]): Promise<Startable[]> {
  return db.query<Startable & { [key: string]: unknown }>(LANES, [lanes]);
}

// Not from the parameters of a group: those of a repetition name the profile too.
const profileOf = (group: string) => `(
  select 'usg/' || r.profile_id from usg_run r where r.activity_id = ${group}
  union all select 'script/' || r.profile_id from script_profile_run r where r.activity_id = ${group} limit 1)`;

// An operation that nothing blocks is the first of its chain. A script that ran on no computer has none.
const typeOf = (group: string) => `case when ${group}.type <> '${ACTIVITY_GROUP}' then ${group}.type else coalesce(
    (select c.type from activity c where c.parent_id = ${group}.id and c.blocked_by is null limit 1),
    case when ${group}.parameters->>'operation' = 'run-script' then 'ExecuteScriptRequest' end, ${group}.type) end`;

const ACTIVITIES = `
  select l.id as lane, l.wf_id, coalesce(l.single, false) as single, a.id as "activityId", a.account_id as "accountId",
    ${typeOf('a')} as type, a.summary, case when a.lane_id is null then a.id else a.parent_id end as "groupId",
    case when l.single then a.computer_id end as "computerId", coalesce(l.size, a.computer_count) as computers,
    ${profileOf('a.id')} as "profileId"
  from activity a left join lane l on l.id = a.lane_id
  where a.id = any($1::int[])`;

const LANES = `
  select l.id as lane, l.wf_id as "workflowId", l.single, coalesce(l.parent_id, a.id) as "activityId",
    l.account_id as "accountId", a.type, l.summary, l.parent_id as "groupId",
    case when l.single then a.computer_id end as "computerId", l.size as computers,
    ${profileOf('l.parent_id')} as "profileId"
  from lane l join lateral (select id, type, computer_id from activity where lane_id = l.id order by id limit 1) a on true
  where l.id = any($1::int[])`;
