import type { Logger } from '../../src/process/logger.ts';
import type { FaultShares } from './computer-options.ts';

/** Times of the simulated agents, in milliseconds. */
export interface FleetTimes {
  pingMs: number;
  /** From a ping with waiting messages, or from a result, to the exchange. */
  urgentMs: number;
  exchangeMs: number;
  operationMs: number;
  rebootMs: number;
  /** Delay of the first retry after a failed exchange; doubles up to four times that. */
  retryMs: number;
  /** The agents start evenly over this time. */
  rampMs: number;
}

/** Times that the server may set. */
export type Intervals = Pick<FleetTimes, 'pingMs' | 'urgentMs' | 'exchangeMs'>;

export interface FleetSettings {
  computers: number;
  /** Base URL of the gateway, before `/message-system` and `/ping`; or several, separated by commas. */
  url: string;
  account: string;
  registrationKey: string | null;
  seed: number;
  /** Stores identities, counters and unsent results; null for none. */
  stateFile: string | null;
  /** Null to keep the log in memory. */
  executionLogFile: string | null;
  connections: number;
  times: FleetTimes;
  shares: FaultShares;
  auditRules: number;
  logger: Logger;
  tickMs: number;
}

/** The named rules of the simulated benchmark; real ones have a few hundred. */
export const DEFAULT_AUDIT_RULES = 38;

/** Larger fleets ping less often, so that the gateway gets at most 500 pings a second. */
export function defaultTimes(computers: number): FleetTimes {
  const perComputer = (perSecond: number): number => (computers / perSecond) * 1000;
  return {
    pingMs: Math.max(2000, perComputer(500)),
    urgentMs: 1000,
    exchangeMs: 15 * 60_000,
    operationMs: 300,
    rebootMs: 5000,
    retryMs: Math.max(1000, perComputer(1000)),
    rampMs: perComputer(300),
  };
}
