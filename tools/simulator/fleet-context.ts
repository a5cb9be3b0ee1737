import type { Ledger } from './ledger.ts';
import type { PackageIdRegistry } from './package-ids.ts';
import type { Random } from './random.ts';
import type { FleetSettings } from './settings.ts';
import type { StateFile } from './state-file.ts';
import type { TimerWheel } from './timer-wheel.ts';
import type { Transport } from './transport.ts';

/** What happened so far in a fleet. */
export interface FleetStatistics {
  exchanges: number;
  failedExchanges: number;
  pings: number;
  failedPings: number;
}

/** What all agents of a fleet share. */
export interface FleetContext {
  readonly settings: FleetSettings;
  /** When the fleet was first started, seconds. */
  readonly epoch: number;
  readonly wheel: TimerWheel;
  readonly transport: Transport;
  readonly ledger: Ledger;
  readonly registry: PackageIdRegistry;
  readonly state: StateFile;
  readonly statistics: FleetStatistics;
  /** The fleet has ended and its files are closed; what still runs has no effect. */
  readonly isClosed: boolean;
  /** Draws of mishaps and of moments, which do not follow from the seed alone: they depend on the order of events. */
  readonly draws: Random;
  /** Notes that the server does not take a registration. */
  refused(reason: string): void;
  /** Notes what no real agent would accept from a server. */
  violation(text: string): void;
}
