import type { Catalogue } from './catalogue/packages.ts';

/** The server's ids by catalogue position; zero where unknown. */
export type PackageIds = Int32Array;

/**
 * What the server calls each package version. Its ids are the same for all computers, so all agents share one table;
 * each still asks for its own before it uses them.
 */
export class PackageIdRegistry {
  /** Something was learned since this was last set to false. */
  isDirty = false;
  readonly #tables = new Map<string, PackageIds>();

  /** Ids given by the server with this UUID. */
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
