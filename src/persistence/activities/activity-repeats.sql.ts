import type { DoneOperation } from '../../domain/engine/inverse.ts';
import type { Sql } from '../database/sql.ts';
import { isReverted } from '../query/activity-fields.ts';
import { Activity } from './activity.entity.ts';
import type { NotReverted } from './activities.sql.ts';
import type { OperationMessage } from './activity-creation.repository.ts';
import { nameSentPackages } from './package-changes.sql.ts';

export interface SourceOperation {
  root: number;
  id: number;
  computer_id: number;
  type: string;
  summary: string;
  payload_id: number;
  blocked_by: number | null;
  delay_seconds: number;
}

/** What a requested activity hands on; summary and parameters of its group, if that does one thing per computer. */
export interface SourceActivity {
  id: number;
  summary: string;
  deliver_delay_window: number;
  parameters: Readonly<Record<string, unknown>> | null;
}

/** The activities themselves, in no order. */
export function readSources(tx: Sql, activities: readonly number[]): Promise<SourceActivity[]> {
  return tx.query<SourceActivity>(SOURCES, { activities });
}

/** Every operation of some activities (all of a group, or the operation itself), by activity, then oldest first. */
export function readSourceOperations(tx: Sql, activities: readonly number[]): Promise<SourceOperation[]> {
  return tx.query<SourceOperation>(SOURCE_OPERATIONS, { activities });
}

/** The activities that some activities revert. */
export async function readReverted({ em }: Sql, activities: readonly number[]): Promise<number[]> {
  const reverting = em.getKysely().selectFrom('activity').select('reverts').where('reverts', 'is not', null);
  const rows = await reverting.where((eb) => eb('id', '=', eb.fn.any(eb.val(activities)))).execute();
  return rows.map(({ reverts }) => reverts!);
}

/** By payload id. */
export async function readMessages(tx: Sql, payloads: readonly number[]): Promise<Map<number, OperationMessage>> {
  const rows = await tx.query<Required<OperationMessage> & { id: number }>(MESSAGES, {
    payloads: [...new Set(payloads)],
  });
  return new Map(rows.map(({ id, ...message }) => [id, message]));
}

/** What operations did according to their results, by id, without those that did nothing or are already reverted. */
export async function readDone(tx: Sql, operations: readonly number[]): Promise<Map<number, DoneOperation>> {
  const rows = await tx.query<DoneOperation & { id: number }>(DONE, { operations });
  return new Map(rows.map(({ id, ...done }) => [id, done]));
}

/** Why some operations are not reverted, oldest first: nothing to revert, already reverted, or not accessible. */
export function readNotReverted(tx: Sql, operations: readonly number[]): Promise<NotReverted[]> {
  return tx.query<NotReverted>(NOT_REVERTED, { operations });
}

/** Links repeated operations to their repetitions, which take over what they revert. The caller locks their batches. */
export async function linkReapplied(tx: Sql, source: number, group: number): Promise<void> {
  await tx.query(LINK_REAPPLIED_OPERATIONS, { group });
  await tx.em.nativeUpdate(Activity, source, { reappliedBy: group });
  await tx.query(CARRY_REVERTS_ON, { group });
  await tx.query(MOVE_REVERTED, { group });
  await nameSentPackages(tx, group);
}

/** As {@link linkReapplied}, for reverted operations. */
export async function linkReverted(tx: Sql, source: number, group: number): Promise<void> {
  await tx.query(LINK_REVERTED_OPERATIONS, { group });
  await tx.em.nativeUpdate(Activity, source, { revertedBy: group });
  await nameSentPackages(tx, group);
}

// A group's summary describes all its operations on a computer, which is wrong for a single one.
const SOURCES = `
  select a.id, coalesce(p.summary, a.summary) as summary, a.deliver_delay_window,
    coalesce(p.parameters, a.parameters) as parameters
  from activity a left join activity p on p.id = a.parent_id and p.children_count <= p.computer_count
  where a.id = any(:activities::int[])`;

const COLUMNS = 'a.id, a.computer_id, a.type, a.summary, a.payload_id, a.blocked_by, a.delay_seconds';

const SOURCE_OPERATIONS = `
  select r.id as root, ${COLUMNS} from unnest(:activities::int[]) r(id) join activity a on a.id = r.id
  where a.computer_id is not null
  union all
  select r.id, ${COLUMNS} from unnest(:activities::int[]) r(id) join activity a on a.parent_id = r.id
  order by 1, 2`;

const MESSAGES = `
  select id, message_type as type, fields, answer_seconds as "answerSeconds", script_id as "scriptId"
  from operation_payload where id = any(:payloads::bigint[])`;

const NOT_REVERTED = `
  select a.id as activity_id, a.computer_id, coalesce(c.title, g.title) as computer_title, case
      when a.status <> 'succeeded' then a.status
      when c.id is null or c.archived then 'computer_gone'
      when ${isReverted('a')} then 'reverted' else 'unchanged' end as reason
  from activity a left join computer c on c.id = a.computer_id left join removed_computer g on g.id = a.computer_id
  where a.id = any(:operations::int[]) order by a.id`;

const DONE = `
  select a.id, a.type, a.summary, jsonb_build_object('type', p.message_type, 'fields', p.fields) as message,
    jsonb_build_object('install', coalesce(c.must_install, '{}'), 'remove', coalesce(c.must_remove, '{}'))
      as complemented, b.snaps as "snapsBefore"
  from activity a join operation_payload p on p.id = a.payload_id
  left join package_change_result c on c.activity_id = a.id
  left join snap_operation_before b on b.activity_id = a.id
  where a.id = any(:operations::int[]) and a.status = 'succeeded' and b.idle is not true
    and (p.message_type <> 'change-packages' or a.changes <> '[]') and not ${isReverted('a')}`;

// Where several operations revert one, the last represents them: it is canceled when an earlier one fails.
const linked = (column: string, target: string) => `
  update activity a set ${column} = n.id
  from (select ${target} as origin, max(id) as id from activity where parent_id = :group group by 1) n
  where a.id = n.origin`;

const CARRY_REVERTS_ON = `
  update activity n set reverts = r.reverts from activity r
  where (n.id = :group or n.parent_id = :group) and r.id = n.reapplied_from and r.reverts is not null`;

const PARTLY_REPEATED = `exists (
      select from activity b
      where b.parent_id = r.parent_id and b.reverts = r.reverts and b.id <> r.id and b.status <> 'succeeded'
        and not exists (
          select from activity m
          where (m.parent_id = :group and m.reapplied_from = b.id)
            or (m.id = b.reapplied_by and m.status not in ('failed', 'canceled'))))`;

// Nothing is relinked if a revert is open or has succeeded beside its repetition: nothing more is left to revert.
const MOVE_REVERTED = `
  update activity s set reverted_by = n.id
  from (select distinct on (r.reverts) r.reverts as origin, n.id
    from activity n join activity r on r.id = n.reapplied_from
    where (n.id = :group or n.parent_id = :group) and r.reverts is not null and not ${PARTLY_REPEATED}
    order by r.reverts, n.parent_id is not null, n.id desc) n
  where s.id = n.origin and exists (
    select from activity r where r.id = s.reverted_by and r.status in ('failed', 'canceled'))`;

const LINK_REAPPLIED_OPERATIONS = linked('reapplied_by', 'reapplied_from');
const LINK_REVERTED_OPERATIONS = linked('reverted_by', 'reverts');
