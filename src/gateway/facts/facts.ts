import type { PackageDelta, PackageRequest, ProcessDelta, UserDelta } from '../../domain/agents/deltas.ts';
import type {
  AuditReport,
  HardwareReport,
  InstalledSnap,
  NetworkDevice,
  OpenResync,
  OperationResult,
  PackageChangeResult,
  RecoveryKey,
  RejectedMessage,
} from '../../domain/agents/facts.ts';
import type { ComputerReport } from '../../persistence/computers/computer.entity.ts';
import type { InventoryReport } from '../../persistence/computers/computer-facts.entity.ts';
import { Faults } from './faults.ts';

/** The content of all messages of one exchange, saved together: the last of each full report, and the sum of deltas. */
export interface Facts {
  computer: ComputerReport;
  inventory: InventoryReport;
  unparsed: Record<string, string>;
  tags: string[] | null;
  annotations: Record<string, string> | null;
  network: NetworkDevice[] | null;
  hardware: HardwareReport | null;
  snaps: InstalledSnap[] | null;
  processes: ProcessDelta | null;
  users: UserDelta | null;
  packages: PackageDelta | null;
  packageRequests: PackageRequest[];
  results: OperationResult[];
  recoveryKeys: RecoveryKey[];
  auditReports: AuditReport[];
  packageResults: PackageChangeResult[];
  openResyncs: readonly OpenResync[];
  rejected: RejectedMessage[];
  faults: Faults;
  unknownTypes: string[];
}

export function emptyFacts(openResyncs: readonly OpenResync[] = []): Facts {
  return {
    computer: {},
    inventory: {},
    unparsed: {},
    tags: null,
    annotations: null,
    network: null,
    hardware: null,
    snaps: null,
    processes: null,
    users: null,
    packages: null,
    packageRequests: [],
    results: [],
    recoveryKeys: [],
    auditReports: [],
    packageResults: [],
    openResyncs,
    rejected: [],
    faults: new Faults(),
    unknownTypes: [],
  };
}
