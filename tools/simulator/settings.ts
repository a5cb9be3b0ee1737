import type { Logger } from '../../src/process/logger.ts';
import type { FaultShares } from './knobs.ts';

/** Times of the simulated agents, milliseconds. */
export interface FleetTimes {
  pingMs: number;
  /** From a ping that says messages wait, or from a result, to the exchange. */
  urgentMs: number;
  exchangeMs: number;
  /** The usual time of an operation. */
  operationMs: number;
  /** How long a machine is away when it restarts. */
  rebootMs: number;
  /** First retry after a failed exchange; doubles up to four times that. */
  retryMs: number;
  /** Over this time the agents begin, in order. */
  rampMs: number;
}

/** The times of one agent that its server may set. */
export type Intervals = Pick<FleetTimes, 'pingMs' | 'urgentMs' | 'exchangeMs'>;

/** Everything a fleet is made from. */
export interface FleetSettings {
  computers: number;
  /** Base URL of the gateway. */
  url: string;
  account: string;
  registrationKey: string | null;
  /** A whole number from which everything random follows. */
  seed: number;
  stateFile: string | null;
  ledgerFile: string | null;
  /** Connections to the gateway at most. */
  connections: number;
  times: FleetTimes;
  shares: FaultShares;
  /** Rules that an audit looks at. */
  auditRules: number;
  logger: Logger;
}

/** As many rules as the simulated benchmark has names for; real ones have a few hundred. */
export const DEFAULT_AUDIT_RULES = 38;

/** The times of a fleet of this size: larger fleets ping less often, so that the gateway sees 500 pings a second at most. */
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
