interface ActivityKind {
  repeatable: boolean;
  reversible: boolean;
}

/** Types of operations, and of groups that have their own type. @see docs/api-conventions.md#types-and-summaries */
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

export const REVERSIBLE_TYPES: readonly string[] = Object.keys(KINDS).filter((type) => KINDS[type]!.reversible);

export const ACTIVITY_GROUP = 'ActivityGroup';

export const ACTIVITY_TYPES: readonly string[] = [ACTIVITY_GROUP, ...Object.keys(KINDS)].toSorted();

/** What a type allows; an unknown type allows nothing. */
export function kindOf(type: string): ActivityKind {
  return KINDS[type] ?? { repeatable: false, reversible: false };
}
