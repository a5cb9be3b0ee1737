import type { Sql } from '../database/sql.ts';

/**
 * Stores results of operations that the server itself has carried out, in the creating transaction: they end when their
 * workflow first processes events, and computers are sent nothing.
 * @param activity - a new group, with all its operations, or an operation without a group
 * @param text - the result text
 */
export async function answerOnServer(
  tx: Sql,
  activity: number,
  result: { ok: boolean; text: string; at: Date },
): Promise<void> {
  await tx.query(ANSWER, { ...result, activity });
}

const ANSWER = `
  insert into agent_inbox (lane_id, activity_id, kind, ok, body, at)
  select lane_id, id, 'result', :ok, :text, :at from activity
  where (id = :activity or parent_id = :activity) and lane_id is not null
  order by id`;
