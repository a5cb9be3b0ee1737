import { REPORT_ACTIVITY } from '../../src/domain/compliance/report.ts';

const GROUP_WORKFLOWS: Readonly<Record<string, string>> = {
  InstallSnaps: 'SnapAction',
  RemoveSnaps: 'SnapAction',
  RefreshSnaps: 'SnapAction',
  HoldSnaps: 'SnapAction',
  UnholdSnaps: 'SnapAction',
  ChangePackagesRequest: 'PackageChange',
  UpgradeKernelPackageRequest: 'KernelChange',
  DowngradeKernelPackageRequest: 'KernelChange',
  SignalProcessRequest: 'ProcessSignal',
  ExecuteScriptRequest: 'ScriptRun',
  RestartRequest: 'ComputerRestart',
  ShutdownRequest: 'ComputerShutdown',
  GenerateFDERecoveryKeyRequest: 'RecoveryKeyGeneration',
  ArchiveComputerRequest: 'ComputerArchival',
  SanitizeComputerRequest: 'ComputerSanitization',
  UsgActivity: 'UsgRun',
};

/** Type of groups in 0.1.0, and of groups with an unknown operation type. */
export const RELEASED_GROUP_WORKFLOW = 'activity';
/** Type of batches in 0.1.0. */
export const RELEASED_BATCH_WORKFLOW = 'lane';

/** Types of batches: of one computer and of many. */
export const OPERATION_WORKFLOW = 'ComputerOperation';
export const OPERATIONS_WORKFLOW = 'ComputerOperations';

/** Types of reports: the current one and that of 0.1.0. */
export const REPORT_WORKFLOW = 'UsgReport';
export const RELEASED_REPORT_WORKFLOW = 'reportActivity';

export const GROUP_TYPES: readonly string[] = [
  ...new Set([RELEASED_GROUP_WORKFLOW, ...Object.values(GROUP_WORKFLOWS)]),
];
export const BATCH_TYPES: readonly string[] = [RELEASED_BATCH_WORKFLOW, OPERATION_WORKFLOW, OPERATIONS_WORKFLOW];
export const REPORT_TYPES: readonly string[] = [RELEASED_REPORT_WORKFLOW, REPORT_WORKFLOW];

/** The workflow type of a group or report by the type of its first operation. */
export function groupWorkflow(operationType: string): string {
  if (operationType === REPORT_ACTIVITY) return REPORT_WORKFLOW;
  return GROUP_WORKFLOWS[operationType] ?? RELEASED_GROUP_WORKFLOW;
}

/** The workflow type of a batch. */
export function batchWorkflow(single: boolean): string {
  return single ? OPERATION_WORKFLOW : OPERATIONS_WORKFLOW;
}

/** A condition of a visibility query. */
export function isOfType(types: readonly string[]): string {
  return `WorkflowType IN (${types.map((type) => `'${type}'`).join(', ')})`;
}
