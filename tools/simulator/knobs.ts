import { createRandom } from './random.ts';

/** What can go wrong with one computer; tests turn these at any time. */
export interface Knobs {
  /** Neither pings nor exchanges; what runs goes on. */
  offline: boolean;
  /** Operations take ten times as long. */
  slow: boolean;
  /** Shares, 0 to 1, of operations that fail and of identified exchanges whose answer is lost or that are sent twice. */
  failing: number;
  lostAnswers: number;
  duplicateSends: number;
  /** Shares of operations at which the agent dies before, or right after, carrying them out. */
  dieBefore: number;
  dieAfter: number;
  /** Seconds by which the clock is ahead; negative when it is behind. */
  clockAhead: number;
  /** How many of the next events go wrong whatever the shares say; counted down. */
  next: Partial<Record<Mishap, number>>;
}

/** Things that can happen to a single event. */
export type Mishap = 'failing' | 'lostAnswers' | 'duplicateSends' | 'dieBefore' | 'dieAfter';

/** Faults of a whole fleet: `offline` and `slow` are shares of its computers, the rest of their events. */
export type FaultShares = Record<Mishap | 'offline' | 'slow', number>;

export const NO_FAULTS: FaultShares = {
  offline: 0,
  slow: 0,
  failing: 0,
  lostAnswers: 0,
  duplicateSends: 0,
  dieBefore: 0,
  dieAfter: 0,
};

/** Sets the knobs of a computer; which ones are slow follows from the seed. */
export function createKnobs(shares: FaultShares, seed: number, index: number): Knobs {
  const { offline: _, slow, ...mishaps } = shares;
  return { ...mishaps, offline: false, slow: createRandom(seed, 'slow', index).chance(slow), clockAhead: 0, next: {} };
}

/** Tells whether a computer goes away for good once it has enrolled and told all about itself. */
export function goesAway(shares: FaultShares, seed: number, index: number): boolean {
  return createRandom(seed, 'offline', index).chance(shares.offline);
}

/**
 * Decides whether a mishap happens now.
 *
 * @param draw - between 0 and 1; equal draws decide alike
 */
export function strikes(knobs: Knobs, mishap: Mishap, draw: number): boolean {
  const due = knobs.next[mishap] ?? 0;
  if (due === 0) return draw < knobs[mishap];
  knobs.next[mishap] = due - 1;
  return true;
}
