import type { ProcessDelta } from '../../domain/agents/deltas.ts';
import type { Sql } from '../database/sql.ts';
import { type PerComputer, toColumns } from './per-computer.ts';

/** Saves the deltas of different computers in one statement. */
export async function saveProcesses(tx: Sql, reports: ReadonlyArray<PerComputer<ProcessDelta>>): Promise<void> {
  const rows = reports.flatMap(({ computerId, value }) =>
    [...value.upserts.values()].map((row) => ({ computerId, row })),
  );
  const kills = reports.flatMap(({ computerId, value }) => [...value.kills].map((pid) => ({ computerId, pid })));
  await tx.query(
    SAVE,
    [
      reports.filter(({ value }) => value.resetAll).map(({ computerId }) => computerId),
      kills.map(({ computerId }) => computerId),
      kills.map(({ pid }) => pid),
      ...toColumns(rows, 'pid', 'name', 'state', 'uid', 'gid', 'startTime', 'vmSize', 'cpuUtilisation'),
    ],
    'gateway-save-processes',
  );
}

// One statement cannot touch a row twice, so rows that are written again are not deleted first. Deltas never name a
// process both as ended and as running.
const SAVE = `
  with removed as (
    delete from computer_process p using unnest($1::int[]) f(computer_id)
    where p.computer_id = f.computer_id and not exists (
      select from unnest($4::int[], $5::int[]) u(computer_id, pid)
      where u.computer_id = p.computer_id and u.pid = p.pid)
  ), ended as (
    delete from computer_process p using unnest($2::int[], $3::int[]) k(computer_id, pid)
    where p.computer_id = k.computer_id and p.pid = k.pid
  )
  insert into computer_process as known
    (computer_id, pid, name, state, uid, gid, start_time, vm_size, cpu_utilisation)
  select r.* from unnest($4::int[], $5::int[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::bigint[], $12::real[]) r
  on conflict (computer_id, pid) do update set name = excluded.name, state = excluded.state, uid = excluded.uid,
    gid = excluded.gid, start_time = excluded.start_time, vm_size = excluded.vm_size,
    cpu_utilisation = excluded.cpu_utilisation
  where known is distinct from excluded`;
