import type { Sql } from '../database/sql.ts';

/**
 * Fails operations of a new group without sending them.
 * @param steps - indexes of the operations in the group, in id order, with the result text of each
 * @remarks By pending events, which batches apply before they queue messages. Part of the creating transaction.
 * @see docs/architecture.md#operations-that-are-never-sent
 */
export async function failUnsent(
  tx: Sql,
  group: number,
  steps: ReadonlyArray<{ step: number; text: string }>,
  now: Date,
): Promise<void> {
  if (steps.length === 0) return;
  await tx.query(FAIL, { group, steps: steps.map(({ step }) => step), texts: steps.map(({ text }) => text), now });
}

const FAIL = `
  insert into agent_inbox (lane_id, activity_id, kind, body, at)
  select a.lane_id, a.id, 'gone', s.text, :now
  from (select id, lane_id, row_number() over (order by id) - 1 as step from activity where parent_id = :group) a
  join unnest(:steps::int[], :texts::text[]) s(step, text) using (step)`;
