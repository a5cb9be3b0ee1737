export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

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

export interface HardwareReport {
  data: string;
  flat: readonly object[] | null;
  grouped: object | null;
}

export interface InstalledSnap {
  name: string;
  snapId: string;
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

export interface RejectedMessage {
  type: string;
  reason: string;
}

export interface OpenResync {
  id: number;
  scopes: readonly string[];
}
