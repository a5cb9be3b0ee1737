import type { PackageDelta, PackageRequest, ProcessDelta, UserDelta } from './deltas.ts';
import { Faults } from './faults.ts';
import type { Hardware } from './hardware.ts';
import type { Json } from './json.ts';

export interface OperationResult {
  operationId: number;
  ok: boolean;
  code: number | null;
  text: string | null;
}

export interface NetworkDevice {
  interface: string;
  ipAddress: string;
  macAddress: string;
  broadcastAddress: string;
  netmask: string;
  flags: number;
  active: boolean;
  speed: number | null;
  duplex: boolean | null;
}

/** The text of the hardware lister and its parsed parts. */
export interface HardwareReport {
  data: string;
  flat: Hardware['flat'] | null;
  grouped: Hardware['grouped'] | null;
}

export interface InstalledSnap {
  name: string;
  id: string;
  version: string;
  revision: string;
  trackingChannel: string | null;
  confinement: string | null;
  heldUntil: string | null;
  publisherUsername: string | null;
  publisherValidation: string | null;
  summary: string | null;
  config: string | null;
}

export interface RecoveryKey {
  operationId: number;
  key: string;
  /** Index of its result in `results`. */
  resultIndex: number;
}

export interface AuditReport {
  operationId: number;
  runId: string;
  report: Uint8Array;
}

export interface PackageChangeResult {
  operationId: number;
  mustInstall: number[];
  mustRemove: number[];
}

/** A message that was consumed without effect, without its content. */
export interface RejectedMessage {
  type: string;
  reason: string;
}

/** A `resynchronize` request of the server that has no response yet. */
export interface OpenResync {
  id: number;
  scopes: readonly string[];
}

/** Columns of `computer` that agents report; only those present change. */
export interface ComputerColumns {
  hostname?: string;
  machine_id?: string | null;
  total_memory?: number | null;
  total_swap?: number | null;
  reboot_required?: boolean;
  reboot_packages?: string[];
  update_manager_prompt?: string | null;
  distribution?: string | null;
  distribution_info?: Json;
  cloud_instance_metadata?: Json;
  cloud_init?: Json;
  distro_pro_info?: Json;
  hotpatch_info?: Json;
  distro_pro_reboot_required_info?: Json;
}

/** Columns of `computer_inventory`; only those present change. */
export interface InventoryColumns {
  client_types?: string[];
  processors?: Json;
  snap_device?: Json;
  snap_services?: Json;
  apt_preferences?: Json;
  package_report?: Json;
}

/** The content of all messages of one exchange, saved together: the last of each full report, and the sum of deltas. */
export interface Facts {
  computer: ComputerColumns;
  inventory: InventoryColumns;
  /** Text that should have been JSON, by message type. */
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
