import { type Executions, outOfOrder, ranOutOfOrder, readDeliveries } from './delivery-order.ts';
import type { TestStack } from './stack.ts';

const LOG_TRANSITIONS = [
  `create table if not exists e2e_transition (
    id bigint generated always as identity, activity_id int not null, old text not null, new text not null)`,
  `create or replace function e2e_log_transition() returns trigger language plpgsql as $$
    begin
      insert into e2e_transition (activity_id, old, new) values (new.id, old.status, new.status);
      return null;
    end $$`,
  `create or replace trigger e2e_transition after update on activity for each row
    when (old.status is distinct from new.status) execute function e2e_log_transition()`,
];

/** Installs a trigger that records every change of a status in a table of the test, in the same transaction. */
export async function logTransitions(stack: TestStack): Promise<void> {
  for (const statement of LOG_TRANSITIONS) await stack.rows(statement);
}

/** Queries whose rows are violations, described in the column `problem`. `$1` is the id of the group. */
const RULES: readonly string[] = [
  // I1: accepted ids = children rows = sum over states, on the parent and on its batches.
  `select format('parent %s counts children %s open %s succeeded %s failed %s canceled %s, its rows count %s, %s, %s, %s, %s',
      p.id, p.children_count, p.open_count, p.succeeded_count, p.failed_count, p.canceled_count,
      c.total, c.open, c.succeeded, c.failed, c.canceled) as problem
    from activity p, lateral (${countsOf('a.parent_id = p.id')}) c
    where p.id = $1 and (p.children_count, p.open_count, p.succeeded_count, p.failed_count, p.canceled_count)
      is distinct from (c.total, c.open, c.succeeded, c.failed, c.canceled)`,
  `select format('batch %s counts size %s open %s succeeded %s failed %s canceled %s, its rows count %s, %s, %s, %s, %s',
      l.id, l.size, l.open_count, l.succeeded_count, l.failed_count, l.canceled_count,
      c.total, c.open, c.succeeded, c.failed, c.canceled) as problem
    from lane l, lateral (${countsOf('a.lane_id = l.id')}) c
    where l.parent_id = $1 and (l.size, l.open_count, l.succeeded_count, l.failed_count, l.canceled_count)
      is distinct from (c.total, c.open, c.succeeded, c.failed, c.canceled)`,
  // One operation per computer.
  `select format('computer %s has %s operations', computer_id, count(*)) as problem
    from activity where parent_id = $1 group by computer_id having count(*) <> 1`,
  // I2: one terminal state; only canceled may be replaced, once, by a result.
  `select format('operation %s ended as %s without a completion time', id, status) as problem
    from activity where parent_id = $1 and status in ('succeeded', 'failed', 'canceled') and completion_time is null`,
  `select format('operation %s went from %s to %s', t.activity_id, t.old, t.new) as problem
    from e2e_transition t join activity a on a.id = t.activity_id
    where a.parent_id = $1 and (t.old in ('succeeded', 'failed') or (t.old = 'canceled' and t.new not in ('succeeded', 'failed')))`,
  `select format('operation %s ended %s times', t.activity_id, count(*)) as problem
    from e2e_transition t join activity a on a.id = t.activity_id
    where a.parent_id = $1 and t.new in ('succeeded', 'failed', 'canceled') and t.old <> 'canceled'
    group by t.activity_id having count(*) <> 1`,
];

/** Rows that must not exist once nothing is open. */
const LEFTOVERS: readonly string[] = [
  `select format('operation %s is still %s', id, status) as problem
    from activity where (parent_id = $1 or id = $1) and status not in ('succeeded', 'failed', 'canceled')`,
  `select format('%s inbox rows of batch %s', count(*), lane_id) as problem from agent_inbox group by lane_id`,
  `select format('outbox row %s %s', kind, key) as problem from outbox`,
  `select format('message of operation %s is %s', m.activity_id, m.state) as problem
    from agent_message m join activity a on a.id = m.activity_id
    where a.parent_id = $1 and m.state not in ('acked', 'withdrawn')`,
];

function countsOf(condition: string): string {
  return `select count(*)::int as total,
    count(*) filter (where a.status not in ('succeeded', 'failed', 'canceled'))::int as open,
    count(*) filter (where a.status = 'succeeded')::int as succeeded,
    count(*) filter (where a.status = 'failed')::int as failed,
    count(*) filter (where a.status = 'canceled')::int as canceled
    from activity a where ${condition}`;
}

/**
 * Finds violations of the invariants on one finished group, each as a sentence.
 * @param executions - the agents' own count, over all operations
 * @remarks The order is checked over all operations, whatever their group.
 */
export async function violationsOf(
  stack: TestStack,
  group: number,
  computerIds: readonly number[],
  executions: Executions,
): Promise<string[]> {
  const found: string[] = [];
  for (const rule of RULES) found.push(...(await problems(stack, rule, [group])));
  found.push(...(await compareComputers(stack, group, computerIds)));
  found.push(...(await compareExecutions(stack, group, executions)));
  const deliveries = await readDeliveries(stack);
  found.push(...outOfOrder(deliveries), ...ranOutOfOrder(deliveries, executions));
  return found;
}

/**
 * Waits until the group is finished: no open rows, empty queues, no open workflow.
 * @throws naming what is left after the limit
 */
export async function waitUntilDrained(stack: TestStack, group: number, limitMs: number): Promise<void> {
  let left: string[] = [];
  const check = async (): Promise<boolean> => {
    left = [];
    for (const query of LEFTOVERS) left.push(...(await problems(stack, query, [group])));
    left.push(...(await openWorkflows(stack)).map((id) => `workflow ${id} is open`));
    return left.length === 0;
  };
  await stack.waitUntil(`group ${group} to drain`, check, { limitMs, everyMs: 300 }).catch((error: Error) => {
    throw new Error(`${left.length} things left, first: ${left.slice(0, 10).join('; ')}\n${error.message}`);
  });
}

/** Ids of the open workflows that drive activities. */
export async function openWorkflows(stack: TestStack): Promise<string[]> {
  const client = await stack.temporal();
  const ids: string[] = [];
  const query = `ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH 'activity/'`;
  for await (const workflow of client.workflow.list({ query })) ids.push(workflow.workflowId);
  return ids;
}

/**
 * Operations of a group that no agent has received. Right after the response to a cancel of the group none of them may
 * run any more, even if the cancel missed them.
 */
export async function neverHandedOut(stack: TestStack, group: number): Promise<number[]> {
  const rows = await stack.rows<{ id: number }>(
    `select a.id from activity a left join agent_message m on m.activity_id = a.id
      where a.parent_id = $1 and (m.state is null or m.state not in ('sent', 'acked', 'dropped'))`,
    [group],
  );
  return rows.map(({ id }) => id);
}

async function problems(stack: TestStack, query: string, values: unknown[]): Promise<string[]> {
  const used = query.includes('$1') ? values : [];
  const rows = await stack.rows<{ problem: string }>(`${query} limit 20`, used);
  return rows.map((row) => row.problem);
}

async function compareComputers(stack: TestStack, group: number, computerIds: readonly number[]): Promise<string[]> {
  const rows = await stack.rows<{ id: number }>('select computer_id as id from activity where parent_id = $1', [group]);
  const got = new Set(rows.map((row) => row.id));
  const missing = computerIds.filter((id) => !got.has(id));
  const unrequested = [...got].filter((id) => !computerIds.includes(id));
  return [
    ...missing.map((id) => `computer ${id} has no operation`),
    ...unrequested.map((id) => `computer ${id} was not requested`),
  ];
}

/** I3, from the agents' logs: an operation with a result ran once, on its computer; a withdrawn one never ran. */
async function compareExecutions(stack: TestStack, group: number, executions: Executions): Promise<string[]> {
  const rows = await stack.rows<{ id: number; computer_id: number; status: string; state: string }>(
    `select a.id, a.computer_id, a.status, m.state
      from activity a join agent_message m on m.activity_id = a.id where a.parent_id = $1`,
    [group],
  );
  return rows.flatMap(({ id, computer_id: computer, status, state }) => {
    const runs = executions.get(id) ?? [];
    const wanted = state === 'withdrawn' ? [0] : status === 'canceled' ? [0, 1] : [1];
    const elsewhere = runs.filter((run) => run.computerId !== computer);
    return [
      ...(wanted.includes(runs.length)
        ? []
        : [`operation ${id} (${status}, message ${state}) ran ${runs.length} times`]),
      ...elsewhere.map((run) => `operation ${id} of computer ${computer} ran on computer ${run.computerId}`),
    ];
  });
}
