import type { SignalTarget } from '../../domain/activities/machine-operations.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

/** A process as last reported. */
export interface ProcessRow {
  pid: number;
  name: string;
  state: string;
  gid: number | null;
  start_time: Date;
  /** KiB. */
  vm_size: number | null;
  /** Per cent. */
  cpu_utilisation: number | null;
}

/** One page of the processes of a computer by process id, and the total number. */
export async function listProcesses(
  db: Sql,
  computer: number,
  page: PageRequest,
): Promise<{ count: number; rows: ProcessRow[] }> {
  const [counts, rows] = await Promise.all([
    db.query<{ count: number }>('select count(*)::int as count from computer_process where computer_id = :computer', {
      computer,
    }),
    db.query<ProcessRow & Record<string, unknown>>(LIST, { computer, limit: page.limit, offset: page.offset }),
  ]);
  return { count: counts[0]!.count, rows };
}

/** The processes with these ids, in the given order; unreported ones have neither name nor start. */
export async function findSignalTargets(db: Sql, computer: number, pids: readonly number[]): Promise<SignalTarget[]> {
  return db.query<SignalTarget & Record<string, unknown>>(FIND, { computer, pids });
}

const LIST = `
  select pid, name, state, gid, to_timestamp(least(greatest(start_time, 0), 253402300799)) as start_time, vm_size, cpu_utilisation
  from computer_process where computer_id = :computer order by pid limit :limit offset :offset`;

const FIND = `
  select n.pid, p.name, p.start_time as "startTime"
  from unnest(:pids::int[]) with ordinality n(pid, place)
  left join computer_process p on p.computer_id = :computer and p.pid = n.pid
  order by n.place`;
