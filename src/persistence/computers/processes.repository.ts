import { sql } from 'kysely';
import type { SignalTarget } from '../../domain/activities/machine-operations.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

const processesOf = (db: Sql, computer: number) =>
  db.em.getKysely().selectFrom('computer_process').where('computer_id', '=', computer);

/** One page of the processes of a computer by process id, sizes in KiB, and the total number. */
export async function listProcesses(db: Sql, computer: number, { limit, offset }: PageRequest) {
  const processes = processesOf(db, computer);
  const startTime = sql<Date>`to_timestamp(least(greatest(start_time, 0), 253402300799))`.as('start_time');
  const [{ count }, rows] = await Promise.all([
    processes.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    processes
      .select(['pid', 'name', 'state', 'gid', startTime, 'vm_size', 'cpu_utilisation'])
      .orderBy('pid')
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { count, rows };
}

/** The processes with these ids, in the given order; unreported ones have neither name nor start. */
export async function findSignalTargets(db: Sql, computer: number, pids: readonly number[]): Promise<SignalTarget[]> {
  const found = await processesOf(db, computer)
    .select(['pid', 'name', 'start_time as startTime'])
    .where('pid', 'in', pids)
    .execute();
  const known = new Map(found.map((target) => [target.pid, target]));
  return pids.map((pid) => known.get(pid) ?? { pid, name: null, startTime: null });
}
