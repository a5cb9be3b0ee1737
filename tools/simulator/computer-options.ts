import { createRandom } from './random.ts';

/** Faults of one computer; can be changed at any time. */
export interface ComputerOptions {
  /** Neither pings nor exchanges; running operations continue. */
  offline: boolean;
  /** Operations take ten times as long. */
  slow: boolean;
  /** Shares, from 0 to 1, of operations, and of exchanges with an identity. */
  failing: number;
  lostResponses: number;
  duplicateSends: number;
  /** Shares of operations before or right after which the agent crashes. */
  dieBefore: number;
  dieAfter: number;
  /** Seconds; negative if the clock is behind. */
  clockAhead: number;
  /** How many of the next events fail regardless of the shares; counted down. */
  next: Partial<Record<EventFault, number>>;
}

export type EventFault = 'failing' | 'lostResponses' | 'duplicateSends' | 'dieBefore' | 'dieAfter';

/** Faults of a fleet: `offline` and `slow` are shares of its computers, the others of their events. */
export type FaultShares = Record<EventFault | 'offline' | 'slow', number>;

export const NO_FAULTS: FaultShares = {
  offline: 0,
  slow: 0,
  failing: 0,
  lostResponses: 0,
  duplicateSends: 0,
  dieBefore: 0,
  dieAfter: 0,
};

export function createComputerOptions(shares: FaultShares, seed: number, index: number): ComputerOptions {
  const { offline: _, slow, ...events } = shares;
  return { ...events, offline: false, slow: createRandom(seed, 'slow', index).chance(slow), clockAhead: 0, next: {} };
}

/** Whether a computer goes offline for good once it has enrolled and reported its facts. */
export function goesOffline(shares: FaultShares, seed: number, index: number): boolean {
  return createRandom(seed, 'offline', index).chance(shares.offline);
}

/** @param draw - a random number from 0 to 1 */
export function faultOccurs(options: ComputerOptions, fault: EventFault, draw: number): boolean {
  const due = options.next[fault] ?? 0;
  if (due === 0) return draw < options[fault];
  options.next[fault] = due - 1;
  return true;
}
