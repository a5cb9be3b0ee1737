import type { Database } from '../../../persistence/database/sql.ts';
import type { IdRange } from '../deltas.ts';
import { multirange } from '../packages.ts';

const MAX_REMEMBERED = 200_000;

/**
 * Which ids of packages the computers of each account may name: those that one of them was told here. Ids are shared by
 * all computers and easy to guess, and whoever has one in its sets is shown the package.
 */
export class ToldPackages {
  readonly #db: Database;
  readonly #recorded = new Set<string>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Records that a computer of an account is told ids; to be called before it is.
   *
   * @remarks Idempotent, and without a statement for what this process has recorded already. Outside any exchange's
   * transaction: what is recorded and then not told is asked for again.
   */
  async record(accountId: number, ids: readonly number[]): Promise<void> {
    const fresh = ids.filter((id) => !this.#recorded.has(key(accountId, id)));
    if (fresh.length === 0) return;
    const ranges = fresh.map((id): IdRange => [id, id]);
    await this.#db.query(RECORD, [accountId, await multirange(ranges)], 'gateway-record-told');
    // Forgetting all is cheap: what is still in use costs one statement that writes nothing.
    if (this.#recorded.size > MAX_REMEMBERED) this.#recorded.clear();
    for (const id of fresh) this.#recorded.add(key(accountId, id));
  }
}

function key(accountId: number, id: number): string {
  return `${accountId} ${id}`;
}

// Looks before it inserts: a conflict that changes nothing would lock the row all the same.
const RECORD = `
  insert into account_packages as a (account_id, known)
  select $1::int, $2::int4multirange
  where not exists (select from account_packages k where k.account_id = $1::int and k.known @> $2::int4multirange)
  on conflict (account_id) do update set known = a.known + excluded.known where not a.known @> excluded.known`;
