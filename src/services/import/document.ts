/** What administrators know of a fleet that its agents do not tell. */
export interface ImportDocument {
  /** Name of the account; null for the only one there is. */
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

/** Kinds of profiles whose rules live elsewhere: only who is in them is kept here. */
export const IMPORTED_PROFILE_TYPES = ['repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl'] as const;

export interface ProfileKey {
  type: (typeof IMPORTED_PROFILE_TYPES)[number];
  id: number;
}

export interface ImportedProfile extends ProfileKey {
  name: string;
  title: string;
}

export interface ProfileAssociation extends ProfileKey {
  /** Whether the computer is as the profile wants it; null when that is not known. */
  status: 'compliant' | 'noncompliant' | null;
}

/** A computer by its id or its hostname. What is undefined stays as it is; what is given replaces what was there. */
export interface ImportedComputer {
  id: number | null;
  hostname: string | null;
  /** Null: none. */
  license: number | null | undefined;
  contracts: string[] | undefined;
  profiles: ProfileAssociation[] | undefined;
}

/** One thing wrong with a file, and where: `computers[3].license`. */
export interface ImportProblem {
  path: string;
  message: string;
}

/** A file that cannot be taken in; nothing of it was. */
export class ImportError extends Error {
  readonly problems: readonly ImportProblem[];

  constructor(problems: readonly ImportProblem[]) {
    super(problems.map(({ path, message }) => `${path === '' ? 'the file' : path} ${message}`).join('\n'));
    this.name = 'ImportError';
    this.problems = problems;
  }
}
