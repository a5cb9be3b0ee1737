export interface ReportedProcess {
  pid: number;
  name: string;
  state: string;
  uid: number | null;
  gid: number | null;
  /** Seconds since the epoch, as the agent reports it and wants it back with a signal. */
  startTime: number;
  vmSize: number | null;
  cpuUtilisation: number | null;
}

/** What changes in a computer's list of processes. */
export interface ProcessDelta {
  /** Forget all that was known before. */
  forgetAll: boolean;
  upserts: Map<number, ReportedProcess>;
  kills: Set<number>;
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

/** What changes among a computer's local users and groups. */
export interface UserDelta {
  /** Forget all that was known before. */
  forgetAll: boolean;
  users: Map<string, LocalUser>;
  removedUsers: Set<string>;
  groups: Map<string, LocalGroup>;
  removedGroups: Set<string>;
  /** Who joins and who leaves which group. */
  joins: Map<string, Set<string>>;
  leaves: Map<string, Set<string>>;
}

/** One version of one package, as an agent describes it. */
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

/** A question that the answer replies to with `package-ids`; null where there is nothing to answer. */
export type PackageRequest =
  | { kind: 'hashes'; requestId: number; hashes: Array<Buffer | null> }
  | { kind: 'packages'; requestId: number; packages: Array<PackageDescription | null> };

/** Sets of package ids that agents keep. */
export type PackageSet = 'installed' | 'available' | 'available-upgrades' | 'locked' | 'autoremovable' | 'security';

/** An id, or an inclusive range of ids. */
export type IdRange = readonly [first: number, last: number];

/** What changes in a computer's sets of packages; steps are applied in order. */
export interface PackageDelta {
  /** The next step starts from empty sets: the agent reports everything afresh. */
  restart: boolean;
  steps: Array<Record<PackageSet, { add: IdRange[]; remove: IdRange[] }>>;
}
