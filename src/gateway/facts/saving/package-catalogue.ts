import type { Database } from '../../../persistence/database/sql.ts';
import type { IdRange, PackageDescription, PackageRequest } from '../deltas.ts';
import { multirange } from '../packages.ts';

const MAX_CACHED = 200_000;

/**
 * Ids of packages by the digest of their content, shared by all computers.
 * @remarks Rows are content-addressed and immutable, so they are written before the transaction of the exchange:
 * exchanges do not wait for each other, and a repeated one finds them.
 */
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
    await this.#read(
      known,
      hashes.filter((hash) => hash !== null),
    );
    const unknown = described.filter((item) => item !== null && !known.has(key(item.hash)));
    await this.#add(
      known,
      unknown.filter((item) => item !== null),
    );
    const ids = hashes.map((hash) => (hash && known.get(key(hash))) ?? null);
    if (this.#ids.size > MAX_CACHED) this.#ids = new Map();
    await this.#accountPackages.add(
      accountId,
      ids.filter((id) => id !== null),
    );
    return ids;
  }

  async #read(known: Map<string, number>, hashes: readonly Buffer[]): Promise<void> {
    const missing = hashes.filter((hash) => !known.has(key(hash)));
    if (missing.length === 0) return;
    const rows = await this.#db.query<{ id: number; hash: Buffer }>(
      'select id, hash from package where hash = any($1::bytea[])',
      [missing],
      'gateway-find-packages',
    );
    for (const row of rows) known.set(key(row.hash), row.id);
  }

  async #add(known: Map<string, number>, packages: readonly PackageDescription[]): Promise<void> {
    const missing = [...new Map(packages.map((item) => [key(item.hash), item])).values()];
    if (missing.length === 0) return;
    // A fixed order, so that agents with the same packages cannot deadlock.
    missing.sort((a, b) => Buffer.compare(a.hash, b.hash));
    const rows = missing.map(({ hash, installedSize, ...rest }) => ({
      ...rest,
      hash: hash.toString('hex'),
      installed_size: installedSize,
    }));
    await this.#db.query(ADD, [JSON.stringify(rows)]);
    await this.#read(
      known,
      missing.map((item) => item.hash),
    );
  }
}

function key(hash: Buffer): string {
  return hash.toString('latin1');
}

const ADD = `
  insert into package (hash, type, name, version, section, summary, description, size, installed_size, relations)
  select decode(p.hash, 'hex'), p.type, p.name, p.version, p.section, p.summary, p.description, p.size, p.installed_size,
    p.relations
  from jsonb_to_recordset($1::jsonb) p(hash text, type int, name text, version text, section text, summary text,
    description text, size bigint, installed_size bigint, relations jsonb)
  order by p.hash
  on conflict (hash) do nothing`;

/**
 * The ids that the computers of each account may name: those that the gateway sent to one of them. Ids are shared by
 * all computers and easy to guess, and every account with an id in its sets can read the package.
 */
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
    const ranges = missing.map((id): IdRange => [id, id]);
    await this.#db.query(ADD_TO_ACCOUNT, [accountId, await multirange(ranges)], 'gateway-add-account-packages');
    if (this.#recorded.size > MAX_CACHED) this.#recorded.clear();
    for (const id of missing) this.#recorded.add(`${accountId} ${id}`);
  }
}

// Checks before inserting: a conflict that changes nothing would still lock the row.
const ADD_TO_ACCOUNT = `
  insert into account_packages as a (account_id, known)
  select $1::int, $2::int4multirange
  where not exists (select from account_packages k where k.account_id = $1::int and k.known @> $2::int4multirange)
  on conflict (account_id) do update set known = a.known + excluded.known where not a.known @> excluded.known`;
