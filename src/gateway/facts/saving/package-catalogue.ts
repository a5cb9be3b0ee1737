import type { Database } from '../../../persistence/database/sql.ts';
import type { PackageDescription, PackageRequest } from '../deltas.ts';
import { ToldPackages } from './told-packages.ts';

const MAX_REMEMBERED = 200_000;

/**
 * Ids of packages by the digest of their content, shared by all computers.
 *
 * @remarks Rows are content-addressed and never change, so they are written ahead of the exchange that brings them,
 * outside its transaction: no exchange waits for another's, and a repeated one finds what it wrote.
 */
export class PackageCatalogue {
  readonly #db: Database;
  #known = new Map<string, number>();
  readonly #told: ToldPackages;
  readonly #most: number;

  /** @param most - ids that are remembered */
  constructor(db: Database, most = MAX_REMEMBERED) {
    this.#db = db;
    this.#most = most;
    this.#told = new ToldPackages(db);
  }

  /**
   * The ids a request asks for, in its order; null where the package has to be described first.
   *
   * @param accountId - whose computer asks; from now on its computers may name these ids
   */
  async answer(request: PackageRequest, accountId: number): Promise<Array<number | null>> {
    const described = request.kind === 'packages' ? request.packages : [];
    const hashes = request.kind === 'hashes' ? request.hashes : described.map((item) => item?.hash ?? null);
    // The same one to the end, whoever forgets meanwhile.
    const known = this.#known;
    await this.#look(
      known,
      hashes.filter((hash) => hash !== null),
    );
    const unknown = described.filter((item) => item !== null && !known.has(key(item.hash)));
    await this.#add(
      known,
      unknown.filter((item) => item !== null),
    );
    const ids = hashes.map((hash) => (hash && known.get(key(hash))) ?? null);
    // Forgetting all is cheap: what is still in use comes back with one look-up each.
    if (this.#known.size > this.#most) this.#known = new Map();
    await this.#told.record(
      accountId,
      ids.filter((id) => id !== null),
    );
    return ids;
  }

  async #look(known: Map<string, number>, hashes: readonly Buffer[]): Promise<void> {
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
    // In one order everywhere, so that two agents describing the same packages cannot wait for each other.
    missing.sort((a, b) => Buffer.compare(a.hash, b.hash));
    const rows = missing.map(({ hash, installedSize, ...rest }) => ({
      ...rest,
      hash: hash.toString('hex'),
      installed_size: installedSize,
    }));
    await this.#db.query(ADD, [JSON.stringify(rows)]);
    await this.#look(
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
