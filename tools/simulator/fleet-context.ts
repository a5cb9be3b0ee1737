import type { ExecutionLog } from './execution-log.ts';
import type { HashIdFiles } from './hash-ids.ts';
import type { PackageIdRegistry } from './package-ids.ts';
import type { Random } from './random.ts';
import type { FleetSettings } from './settings.ts';
import type { StateFile } from './state-file.ts';
import type { TimerWheel } from './timer-wheel.ts';
import type { Transport } from './transport.ts';

export interface FleetStatistics {
  exchanges: number;
  failedExchanges: number;
  pings: number;
  failedPings: number;
}

/** What all agents of a fleet share. */
export interface FleetContext {
  readonly settings: FleetSettings;
  /** First start of the fleet, in seconds. */
  readonly epoch: number;
  readonly wheel: TimerWheel;
  readonly transport: Transport;
  readonly executionLog: ExecutionLog;
  readonly registry: PackageIdRegistry;
  readonly hashIdFiles: HashIdFiles;
  readonly state: StateFile;
  readonly statistics: FleetStatistics;
  /** The files of the fleet are closed; what still runs has no effect. */
  readonly isClosed: boolean;
  /** Random faults and times. They depend on the order of events, not only on the seed. */
  readonly random: Random;
  registrationRejected(reason: string): void;
  /** Records what would break real agents. */
  violation(text: string): void;
}
