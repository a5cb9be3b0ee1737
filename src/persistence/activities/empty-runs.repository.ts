import type { Sql } from '../database/sql.ts';
import { addStartCommand } from './outbox.repository.ts';

/** A run of a profile or a script that found no computer. */
export interface EmptyRun {
  accountId: number;
  creatorId: number;
  type: string;
  summary: string;
  parameters: object;
  traceparent: string | null;
  now: Date;
}

/** Stores the successful activity of a run without computers, so that operators see every run. @returns its id */
export async function insertEmptyRun(tx: Sql, run: EmptyRun): Promise<number> {
  const [row] = await tx.query<{ id: number }>(
    `insert into activity (account_id, type, summary, status, creator_id, creation_time, modification_time,
       completion_time, parameters)
     values (:accountId, :type, :summary, 'succeeded', :creatorId, :now, :now, :now, :parameters) returning id`,
    { ...run, parameters: JSON.stringify(run.parameters) },
  );
  await addStartCommand(tx, row!.id, run);
  return row!.id;
}
