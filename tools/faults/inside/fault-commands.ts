import type { FailPoint } from './points.ts';

/** What happens to a process at a fail point; a code of PostgreSQL makes the server refuse the statement with it. */
export type Strike = { kill: true } | { blockMs: number } | { sqlState: string } | { dropConnection: true };

/** What the driver tells a process, one JSON line each; the answer is a line that says `ok`. */
export type FaultCommand =
  /** Strikes once, when the point was passed `skip` times. */
  | { do: 'arm'; point: FailPoint; strike: Strike; skip: number }
  | { do: 'disarm' }
  /** Sets the process's clock off by so much; 0 sets it right. */
  | { do: 'clock'; offsetMs: number }
  /** Nothing else runs in the process for so long. */
  | { do: 'block'; ms: number }
  /** Takes every connection of every pool for so long. */
  | { do: 'exhaust'; ms: number };

/** Names of settings that only processes which are to be struck have. */
export const FAULT_DIRECTORY = 'FLOTILLA_TEST_FAULT_DIRECTORY';
/** Ports that stand before the servers, by role: `api:database=1234,worker:temporal=...`. */
export const FAULT_WIRES = 'FLOTILLA_TEST_FAULT_WIRES';
