import type { TestStack } from '../../harness/stack.ts';
import { openWorkflows } from '../../harness/stack-invariants.ts';
import type { ActivityFact, BatchFact, TransitionFact } from './facts.ts';

/** Rows with higher numbers were created later. */
export interface Watermark {
  activity: number;
  transition: number;
}

export async function readWatermark(stack: TestStack): Promise<Watermark> {
  const [row] = await stack.rows<{ activity: number; transition: number }>(
    `select (select case when is_called then last_value else 0 end from activity_id_seq)::int as activity,
      coalesce((select max(id) from e2e_transition), 0)::int as transition`,
  );
  return row!;
}

/** Activities, batches and changes of status after a watermark, directly from the database. */
export async function readRows(
  stack: TestStack,
  { activity, transition }: Watermark,
): Promise<{ activities: ActivityFact[]; batches: BatchFact[]; transitions: TransitionFact[] }> {
  const activities = await stack.rows<Row<ActivityFact>>(
    `select a.id, a.account_id as account, a.parent_id as parent, a.lane_id as batch, a.computer_id as computer, a.status,
       a.delivery_time is not null as delivered, a.completion_time is not null as ended, ${COUNTS}, m.state as message
     from activity a left join agent_message m on m.activity_id = a.id where a.id > $1`,
    [activity],
  );
  const batches = await stack.rows<Row<BatchFact>>(
    `select a.id, a.parent_id as parent, a.wf_id as workflow, a.size, ${COUNTS.replace('a.children_count', '0')}
     from lane a where a.id in (select lane_id from activity where id > $1)`,
    [activity],
  );
  const transitions = await stack.rows<TransitionFact & { [key: string]: unknown }>(
    'select activity_id as activity, old as "from", new as "to" from e2e_transition where id > $1 order by id',
    [transition],
  );
  return { activities, batches, transitions };
}

type Row<T> = T & { [key: string]: unknown };

const COUNTS = `json_build_object('children', a.children_count, 'open', a.open_count, 'succeeded', a.succeeded_count,
  'failed', a.failed_count, 'canceled', a.canceled_count) as counts`;

/** Account and tags of every computer, and the removed computers. */
export async function readComputers(stack: TestStack) {
  const rows = await stack.rows<{ id: number; account: number; tags: string[] }>(
    'select id, account_id as account, tags from computer',
  );
  return {
    owners: new Map(rows.map(({ id, account }) => [id, account])),
    tags: new Map(rows.map(({ id, tags }) => [id, tags])),
  };
}

/** All open work: open batches, rows of queues, open workflows. */
export async function readPending(stack: TestStack, { activity }: Watermark): Promise<string[]> {
  const rows = await stack.rows<{ what: string }>(
    `select format('operation %s is %s', id, status) as what from activity
       where id > $1 and status not in ('succeeded', 'failed', 'canceled')
     union all select format('batch %s is open', id) from lane where closed_at is null
     union all select format('%s inbox rows of batch %s', count(*), lane_id) from agent_inbox group by lane_id
     union all select format('outbox row %s %s', kind, key) from outbox
     union all select format('message of operation %s is %s', m.activity_id, m.state)
       from agent_message m join computer c on c.id = m.computer_id where m.state in ('held', 'queued', 'sent')
     union all select format('report %s waits', activity_id) from usg_audit_report`,
    [activity],
  );
  const workflows = await openWorkflows(stack);
  return [...rows.map(({ what }) => what), ...workflows.map((id) => `workflow ${id} is open`)];
}
