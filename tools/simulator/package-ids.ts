import type { Catalogue } from './catalogue/packages.ts';

/** The server's ids by catalogue position; 0 if unknown. */
export type PackageIds = Int32Array;

/**
 * The server's ids of packages. They are the same for all computers, so all agents share one table; each agent still
 * requests its ids before it uses them.
 */
export class PackageIdRegistry {
  /** Set by {@link learn}; the owner resets it. */
  isDirty = false;
  readonly #tables = new Map<string, PackageIds>();

  of(serverUuid: string, catalogue: Catalogue): PackageIds {
    const key = `${serverUuid} ${catalogue.release} ${catalogue.kernelMeta}`;
    let table = this.#tables.get(key);
    if (!table) {
      table = new Int32Array(catalogue.packages.length);
      this.#tables.set(key, table);
    }
    return table;
  }

  learn(table: PackageIds, index: number, id: number): void {
    this.isDirty ||= table[index] !== id;
    table[index] = id;
  }

  toJSON(): Record<string, number[]> {
    return Object.fromEntries([...this.#tables].map(([key, ids]) => [key, [...ids]]));
  }

  restore(tables: Readonly<Record<string, readonly number[]>>): void {
    for (const [key, ids] of Object.entries(tables)) this.#tables.set(key, Int32Array.from(ids));
  }
}
