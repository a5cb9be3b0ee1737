/** Facts about a fleet that agents do not report. */
export interface ImportDocument {
  /** Account name; null for the only account. */
  account: string | null;
  licenses: ImportedLicense[];
  contracts: ImportedContract[];
  profiles: ImportedProfile[];
  computers: ImportedComputer[];
}

export interface ImportedLicense {
  id: number;
  title: string;
  expires: Date | null;
}

export interface ImportedContract {
  id: string;
  title: string;
  free: boolean;
  expires: Date | null;
}

/** Kinds of profiles that are managed elsewhere; only their computers are stored here. */
export interface ProfileKey {
  type: 'repository' | 'package' | 'upgrade' | 'reboot' | 'removal' | 'wsl';
  id: number;
}

export interface ImportedProfile extends ProfileKey {
  name: string;
  title: string;
}

export interface ProfileAssociation extends ProfileKey {
  /** Null: unknown. */
  status: 'compliant' | 'noncompliant' | null;
}

/** A computer by its id or hostname. Undefined fields do not change. */
export interface ImportedComputer {
  id: number | null;
  hostname: string | null;
  /** Null: none. */
  license: number | null | undefined;
  contracts: string[] | undefined;
  profiles: ProfileAssociation[] | undefined;
}

/** A problem in a file, at a path such as `computers[3].license`. */
export interface ImportProblem {
  path: string;
  message: string;
}

export class ImportError extends Error {
  readonly problems: readonly ImportProblem[];

  constructor(problems: readonly ImportProblem[]) {
    super(problems.map(({ path, message }) => `${path === '' ? 'the file' : path} ${message}`).join('\n'));
    this.name = 'ImportError';
    this.problems = problems;
  }
}
