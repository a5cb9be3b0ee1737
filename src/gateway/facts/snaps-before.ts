import type { Sql } from '../../persistence/sql.ts';
import type { Facts } from './facts.ts';
import { MAX_INT4 } from './fields.ts';
import type { Of } from './set-wise.ts';

/**
 * Keeps how the snaps of successful operations stood before: a report of snaps that comes with a result shows what the
 * operation made of them, and what is stored until then is what it found.
 *
 * @remarks Before the new report is saved. The first result of an operation decides.
 * @see api-decisions 4.7
 */
export async function keepSnapsBefore(tx: Sql, reports: ReadonlyArray<Of<Facts>>): Promise<void> {
  const done = reports.flatMap(({ computerId, value: { snaps, results } }) =>
    snaps === null
      ? []
      : results
          .filter(({ ok, operationId }) => ok && operationId >= 1 && operationId <= MAX_INT4)
          .map(({ operationId }) => ({ computerId, operationId })),
  );
  if (done.length === 0) return;
  await tx.query(
    KEEP,
    [done.map(({ computerId }) => computerId), done.map(({ operationId }) => operationId)],
    'gateway-snaps-before',
  );
}

// An operation that found everything as it wanted it has nothing to undo.
const KEEP = `
  insert into snap_operation_before (activity_id, computer_id, snaps, idle)
  select m.activity_id, m.computer_id, before.snaps, before.idle
  from unnest($1::int[], $2::int[]) r(computer_id, id)
  join agent_message m on m.activity_id = r.id and m.computer_id = r.computer_id
  join operation_payload p on p.id = m.payload_id
  cross join lateral (
    select coalesce(jsonb_object_agg(s.name, s.held_until) filter (where s.name is not null), '{}') as snaps,
      bool_and(case p.message_type when 'install-snaps' then s.name is not null
        when 'hold-snaps' then s.held_until = coalesce(e.value #>> '{args,time}', 'forever')
        else s.held_until is null end) is true as idle
    from jsonb_array_elements(p.fields -> 'snaps') e
    left join computer_snap s on s.computer_id = m.computer_id and s.name = e.value ->> 'name'
  ) before
  where p.message_type in ('install-snaps', 'hold-snaps', 'unhold-snaps') and m.state in ('sent', 'acked', 'dropped')
  on conflict (activity_id) do nothing`;
