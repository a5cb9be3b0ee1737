import type { FailPoint } from './points.ts';

/** Effect on a process at a fail point; with a PostgreSQL error code the server rejects the statement. */
export type Strike = { kill: true } | { blockMs: number } | { sqlState: string } | { dropConnection: true };

/** A command from the driver to a process, one JSON line each; the process replies `ok`. */
export type FaultCommand =
  /** Strikes once, after the point was passed `skip` times. */
  | { do: 'enable'; point: FailPoint; strike: Strike; skip: number }
  | { do: 'disable' }
  /** Shifts the process's clock; 0 corrects it. */
  | { do: 'clock'; offsetMs: number }
  | { do: 'block'; ms: number }
  | { do: 'exhaust'; ms: number };

/** Environment variables of processes that faults are injected into. */
export const FAULT_DIRECTORY = 'FLOTILLA_TEST_FAULT_DIRECTORY';
/** Ports of the proxies in front of the servers, by role: `api:database=1234,worker:temporal=...`. */
export const FAULT_PROXIES = 'FLOTILLA_TEST_FAULT_PROXIES';
