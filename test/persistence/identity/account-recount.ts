import { kindOf } from '../../../src/domain/activities/kinds.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';

/** An activity as it lies in its table, with the state of its message. */
interface RawActivity {
  id: number;
  parent_id: number | null;
  lane_id: number | null;
  computer_id: number | null;
  type: string;
  status: string;
  deliver_at: Date | null;
  delivery_time: Date | null;
  reverts: number | null;
  after_activity_id: number | null;
  message: string | null;
  /** It had a message, which its computer took along when it was removed. */
  message_removed: boolean;
  /** A cancel of it, of its group or of all its operations is pending. */
  cancel_requested: boolean;
  /** How it ended is known and not processed yet. */
  ends_ahead: boolean;
  [key: string]: unknown;
}

/** Every activity of an account, row by row. */
export function readRaw(sql: Sql, accountId: number): Promise<RawActivity[]> {
  return sql.query<RawActivity>(
    `select a.id, a.parent_id, a.lane_id, a.computer_id, a.type, a.status, a.deliver_at, a.delivery_time, a.reverts,
       a.after_activity_id, m.state as message,
       m.activity_id is null and l.opened_at is not null and c.id is null as message_removed,
       exists (select from agent_inbox i where i.kind = 'cancel' and case when a.lane_id is null
         then i.activity_id is null and i.lane_id in (select l.id from lane l where l.parent_id = a.id)
         else i.lane_id = a.lane_id and coalesce(i.activity_id, a.id) = a.id end) as cancel_requested,
       exists (select from agent_inbox i where i.activity_id = a.id and i.kind in ('result', 'gone')) as ends_ahead
     from activity a left join agent_message m on m.activity_id = a.id
       left join lane l on l.id = a.lane_id left join computer c on c.id = a.computer_id
     where a.account_id = $1 order by a.id`,
    [accountId],
  );
}

const ENDED = ['succeeded', 'failed', 'canceled'];

/** What is allowed in each state, for what can be repeated and undone, on computers that are still there. */
const ALLOWED: Readonly<Record<string, string>> = {
  unapproved: 'approve cancel',
  blocked: 'cancel',
  waiting: 'cancel',
  scheduled: 'cancel',
  undelivered: 'cancel',
  delivered: 'cancel',
  succeeded: 'reapply revert',
  failed: 'reapply revert',
  canceled: 'reapply revert',
};

/** What counters, states and permitted actions must be, counted anew from plain rows and knowing nothing of SQL. */
export class Recount {
  readonly #rows: readonly RawActivity[];
  readonly #gone: ReadonlySet<number>;
  readonly #nowMs: number;
  readonly #bound: number | null;

  /**
   * @param gone - computers that were removed or archived
   * @param bound - on messages waiting for one computer
   */
  constructor(rows: readonly RawActivity[], removed: ReadonlySet<number>, now: Date, bound: number | null) {
    this.#rows = rows;
    this.#gone = removed;
    this.#nowMs = now.getTime();
    this.#bound = bound;
  }

  /** Ids of all activities, newest first. */
  get ids(): number[] {
    return this.#rows.map(({ id }) => id).toReversed();
  }

  /** Ids of those that are nobody's children, newest first. */
  get parents(): number[] {
    return this.#rows.flatMap(({ id, parent_id }) => (parent_id === null ? [id] : [])).toReversed();
  }

  counts(where: { parent: number } | { batch: number }) {
    const rows = this.#rows.filter((row) =>
      'batch' in where ? row.lane_id === where.batch : row.parent_id === where.parent,
    );
    const of = (status: string) => rows.filter((row) => row.status === status).length;
    return {
      size: rows.length,
      open: rows.filter(({ status }) => !ENDED.includes(status)).length,
      delivered: of('delivered'),
      succeeded: of('succeeded'),
      failed: of('failed'),
      canceled: of('canceled'),
      computers: new Set(rows.map(({ computer_id }) => computer_id)).size,
    };
  }

  /** The state that is shown. */
  statusOf(row: RawActivity): string {
    if (row.computer_id === null) return this.#rolledUp(this.#childrenOf(row));
    if (row.status !== 'undelivered') return row.status;
    if (!this.#isDue(row)) return 'scheduled';
    const others = this.#rows.filter(({ computer_id }) => computer_id === row.computer_id);
    const taken = others.filter(({ message }) => message === 'sent').length + this.#ahead(row).length;
    return this.#bound !== null && taken >= this.#bound ? 'waiting' : 'undelivered';
  }

  /** What an operation waits for has succeeded on its computer. */
  isReady(operation: number): boolean {
    return this.#prior(operation).every(({ status }) => status === 'succeeded');
  }

  /** What an operation waits for can not succeed on its computer any more. */
  isLost(operation: number): boolean {
    return this.#prior(operation).some(({ status }) => status === 'failed' || status === 'canceled');
  }

  #prior(operation: number): RawActivity[] {
    const { after_activity_id: after, computer_id } = this.#rows.find(({ id }) => id === operation)!;
    if (after === null) return [];
    return this.#rows.filter((row) => row.computer_id === computer_id && (row.id === after || row.parent_id === after));
  }

  /** What a computer must have got before `operation`, and has not. */
  leftBefore(operation: number): number[] {
    return this.#ahead(this.#rows.find(({ id }) => id === operation)!).map(({ id }) => id);
  }

  /** What is due on the same computer, was accepted before, and was neither handed over nor taken back. */
  #ahead({ id, computer_id }: RawActivity): RawActivity[] {
    return this.#rows.filter(
      (row) =>
        row.computer_id === computer_id &&
        row.id < id &&
        row.status === 'undelivered' &&
        this.#isDue(row) &&
        (row.message === 'queued' || (row.message === null && !row.message_removed)),
    );
  }

  #isDue({ deliver_at }: RawActivity): boolean {
    return deliver_at === null || deliver_at.getTime() <= this.#nowMs;
  }

  /** Its cancel was accepted, and it goes on. */
  isCancelRequested(row: RawActivity): boolean {
    return row.cancel_requested && !ENDED.includes(this.statusOf(row));
  }

  /** Nothing of it is left that a cancel could stop, though it is still open. */
  isOverAhead(row: RawActivity): boolean {
    const open = this.#operationsOf(row).filter(({ status }) => !ENDED.includes(status));
    return open.length > 0 && open.every(({ ends_ahead }) => ends_ahead);
  }

  actionsOf(row: RawActivity) {
    const status = this.statusOf(row);
    const operations = this.#operationsOf(row);
    const may = (action: string) => ALLOWED[status]!.split(' ').includes(action);
    const isHere = ({ computer_id }: RawActivity) => !this.#gone.has(computer_id!);
    const every = (what: 'repeatable' | 'reversible') => operations.every(({ type }) => kindOf(type)[what]);
    return {
      approvable: may('approve'),
      cancelable: may('cancel'),
      reappliable: may('reapply') && operations.every(isHere) && every('repeatable'),
      revertable:
        may('revert') &&
        every('reversible') &&
        operations.some((one) => one.status === 'succeeded' && isHere(one) && !this.#undone(one)),
    };
  }

  /** A group's are its children; an operation is its own. */
  #operationsOf(row: RawActivity): readonly RawActivity[] {
    return row.computer_id === null ? this.#childrenOf(row) : [row];
  }

  #childrenOf({ id }: RawActivity): RawActivity[] {
    return this.#rows.filter(({ parent_id }) => parent_id === id);
  }

  #rolledUp(children: readonly RawActivity[]): string {
    const statuses = children.map(({ status }) => status);
    if (statuses.every((status) => ENDED.includes(status))) {
      return ['failed', 'canceled'].find((status) => statuses.includes(status)) ?? 'succeeded';
    }
    if (children.some(({ delivery_time }) => delivery_time !== null)) return 'delivered';
    const shown = children.map((child) => this.statusOf(child));
    return ['unapproved', 'blocked', 'undelivered', 'scheduled', 'waiting'].find((status) => shown.includes(status))!;
  }

  /** The latest undoing is open or done. */
  #undone({ id }: RawActivity): boolean {
    const latest = this.#rows.findLast(({ reverts, computer_id }) => reverts === id && computer_id !== null);
    return latest !== undefined && !['failed', 'canceled'].includes(latest.status);
  }
}
