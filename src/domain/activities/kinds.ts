/** What may be done again with operations of one type. */
export interface ActivityKind {
  /** It can be repeated with the same parameters. */
  repeatable: boolean;
  /** There is an operation that undoes it. */
  reversible: boolean;
}

/** Types of operations and of groups with a type of their own. @see docs/api-conventions.md#types-and-summaries */
const KINDS: Readonly<Record<string, ActivityKind>> = {
  InstallSnaps: { repeatable: true, reversible: true },
  RemoveSnaps: { repeatable: true, reversible: false },
  RefreshSnaps: { repeatable: true, reversible: false },
  HoldSnaps: { repeatable: true, reversible: true },
  UnholdSnaps: { repeatable: true, reversible: true },
  ChangePackagesRequest: { repeatable: true, reversible: true },
  UpgradeKernelPackageRequest: { repeatable: true, reversible: true },
  DowngradeKernelPackageRequest: { repeatable: true, reversible: true },
  SignalProcessRequest: { repeatable: true, reversible: false },
  ExecuteScriptRequest: { repeatable: true, reversible: false },
  RestartRequest: { repeatable: true, reversible: false },
  ShutdownRequest: { repeatable: true, reversible: false },
  GenerateFDERecoveryKeyRequest: { repeatable: false, reversible: false },
  ArchiveComputerRequest: { repeatable: false, reversible: false },
  SanitizeComputerRequest: { repeatable: false, reversible: false },
  UsgActivity: { repeatable: false, reversible: false },
  GenerateUsgReportActivity: { repeatable: false, reversible: false },
};

/** Types of operations with an inverse. */
export const REVERSIBLE_TYPES: readonly string[] = Object.keys(KINDS).filter((type) => KINDS[type]!.reversible);

/** Type of a group of operations. */
export const ACTIVITY_GROUP = 'ActivityGroup';

/** Every type, in alphabetical order. */
export const ACTIVITY_TYPES: readonly string[] = [ACTIVITY_GROUP, ...Object.keys(KINDS)].toSorted();

/** What a type allows; an unknown one allows nothing. */
export function kindOf(type: string): ActivityKind {
  return KINDS[type] ?? { repeatable: false, reversible: false };
}
