import type { PackageDescription, PackageRequest } from '../../domain/agents/deltas.ts';
import { addAccountPackages, addPackages, findPackages } from '../../persistence/agents/packages.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';

const MAX_CACHED = 200_000;

/** Rows are immutable and written before the exchange's transaction: exchanges do not wait for each other. */
export class PackageCatalogue {
  readonly #db: Database;
  #ids = new Map<string, number>();
  readonly #accountPackages: AccountPackages;

  constructor(db: Database) {
    this.#db = db;
    this.#accountPackages = new AccountPackages(db);
  }

  /** The ids of a request, in order; null if undescribed. From then on the account's computers may name them. */
  async findIds(request: PackageRequest, accountId: number): Promise<Array<number | null>> {
    const described = request.kind === 'packages' ? request.packages : [];
    const hashes = request.kind === 'hashes' ? request.hashes : described.map((item) => item?.hash ?? null);
    // Another call may replace the cache meanwhile.
    const known = this.#ids;
    const usable = hashes.filter((hash) => hash !== null);
    await this.#read(known, usable);
    const unknown = described.filter((item) => item !== null).filter(({ hash }) => !known.has(key(hash)));
    await this.#add(known, unknown);
    const ids = hashes.map((hash) => (hash && known.get(key(hash))) ?? null);
    if (this.#ids.size > MAX_CACHED) this.#ids = new Map();
    const found = ids.filter((id) => id !== null);
    await this.#accountPackages.add(accountId, found);
    return ids;
  }

  async #read(known: Map<string, number>, hashes: readonly Buffer[]): Promise<void> {
    const missing = hashes.filter((hash) => !known.has(key(hash)));
    if (missing.length === 0) return;
    for (const row of await findPackages(this.#db, missing)) known.set(key(row.hash), row.id);
  }

  async #add(known: Map<string, number>, packages: readonly PackageDescription[]): Promise<void> {
    const missing = [...new Map(packages.map((item) => [key(item.hash), item])).values()];
    if (missing.length === 0) return;
    await addPackages(this.#db, missing);
    const hashes = missing.map(({ hash }) => hash);
    await this.#read(known, hashes);
  }
}

function key(hash: Buffer): string {
  return hash.toString('latin1');
}

/** Ids sent to an account's computers. Others are easy to guess, and naming one lets an account read it. */
class AccountPackages {
  readonly #db: Database;
  readonly #recorded = new Set<string>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Call it before the ids are sent, outside the transaction of the exchange: agents request lost ids again. */
  async add(accountId: number, ids: readonly number[]): Promise<void> {
    const missing = ids.filter((id) => !this.#recorded.has(`${accountId} ${id}`));
    if (missing.length === 0) return;
    await addAccountPackages(this.#db, accountId, missing);
    if (this.#recorded.size > MAX_CACHED) this.#recorded.clear();
    for (const id of missing) this.#recorded.add(`${accountId} ${id}`);
  }
}
