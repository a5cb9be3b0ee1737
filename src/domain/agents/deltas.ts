export interface ReportedProcess {
  pid: number;
  name: string;
  state: string;
  uid: number | null;
  gid: number | null;
  /** Seconds since the epoch, as reported by the agent and required for signals. */
  startTime: number;
  vmSize: number | null;
  cpuUtilisation: number | null;
}

/** The last report of each row, and keys of those that the computer no longer has. */
export class RowDelta<K, T> {
  readonly present = new Map<K, T>();
  readonly removed = new Set<K>();

  /** Also undoes an earlier removal of the row. */
  put(key: K, row: T): void {
    this.removed.delete(key);
    this.present.set(key, row);
  }

  remove(key: K): void {
    this.present.delete(key);
    this.removed.add(key);
  }
}

/** By process id. */
export class ProcessDelta extends RowDelta<number, ReportedProcess> {
  readonly resetAll: boolean;

  constructor(resetAll: boolean) {
    super();
    this.resetAll = resetAll;
  }
}

export interface LocalUser {
  username: string;
  uid: number | null;
  name: string | null;
  enabled: boolean;
  location: string | null;
  homePhone: string | null;
  workPhone: string | null;
  primaryGid: number | null;
}

export interface LocalGroup {
  name: string;
  gid: number | null;
}

export interface UserDelta {
  resetAll: boolean;
  users: RowDelta<string, LocalUser>;
  groups: RowDelta<string, LocalGroup>;
  /** Users by group. */
  joins: Map<string, Set<string>>;
  leaves: Map<string, Set<string>>;
}

export interface PackageDescription {
  hash: Buffer;
  type: number;
  name: string;
  version: string;
  section: string | null;
  summary: string | null;
  description: string | null;
  size: number | null;
  installedSize: number | null;
  relations: Array<[number, string]>;
}

/** A request for `package-ids`; null in place of invalid entries. */
export type PackageRequest =
  | { kind: 'hashes'; requestId: number; hashes: Array<Buffer | null> }
  | { kind: 'packages'; requestId: number; packages: Array<PackageDescription | null> };

export const PACKAGE_SETS = {
  installed: 'installed',
  available: 'available',
  'available-upgrades': 'available_upgrades',
  locked: 'locked',
  autoremovable: 'autoremovable',
  security: 'security',
} as const;

export type PackageSet = keyof typeof PACKAGE_SETS;

export const PACKAGE_SET_NAMES = Object.keys(PACKAGE_SETS) as PackageSet[];

/** An id, or an inclusive range of ids. */
export type IdRange = readonly [first: number, last: number];

export interface PackageDelta {
  /** The next change starts from empty sets: the agent reports everything again. */
  restart: boolean;
  changes: Array<Record<PackageSet, { add: IdRange[]; remove: IdRange[] }>>;
}
