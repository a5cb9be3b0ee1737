/** A figure with its targets. */
export interface Target {
  /** `least`: a lower bound; `most`: an upper bound. */
  kind: 'least' | 'most';
  first: number;
  goal: number;
}

export type Verdict = 'goal met' | 'met' | 'missed' | 'not judged';

/** Above this share of foreign load or steal there is no verdict. @see docs/reliability.md#rules-for-benchmarks */
export const NOISE_LIMIT = 0.1;

/**
 * Compares a figure with its target.
 * @param noise - highest share of foreign load or steal during the measurement; 0 for a verdict in any case
 */
export function classify(value: number, target: Target, noise: number): Verdict {
  if (noise > NOISE_LIMIT || !Number.isFinite(value)) return 'not judged';
  const reaches = (bound: number) => (target.kind === 'least' ? value >= bound : value <= bound);
  if (reaches(target.goal)) return 'goal met';
  return reaches(target.first) ? 'met' : 'missed';
}

/** The first target and the goal. */
export const TARGETS = {
  singlePerNoop: { kind: 'least', first: 0.45, goal: 0.8 },
  visibleMs: { kind: 'most', first: 60, goal: 27 },
  aloneCpuMs: { kind: 'most', first: 60, goal: 27 },
  computersPerNoop: { kind: 'least', first: 10, goal: 40 },
  writesPerNoop: { kind: 'most', first: 0.1, goal: 0.03 },
  acceptMs: { kind: 'most', first: 250, goal: 30 },
  doneSeconds: { kind: 'most', first: 60, goal: 10 },
  timeGrowth: { kind: 'most', first: 1.1, goal: 1.02 },
  memoryGrowth: { kind: 'most', first: 0.3, goal: 0.05 },
  addedMiB: { kind: 'most', first: 150, goal: 30 },
  checkInRatio: { kind: 'least', first: 0.5, goal: 2 },
  computersPerCore: { kind: 'least', first: 45_000, goal: 150_000 },
  loginRatio: { kind: 'least', first: 0.8, goal: 0.95 },
  authRatio: { kind: 'least', first: 0.35, goal: 0.85 },
  coldSeconds: { kind: 'most', first: 10, goal: 3 },
  coldRatio: { kind: 'most', first: 2.5, goal: 0.8 },
  pageRatio: { kind: 'most', first: 2.5, goal: 1.2 },
  selectorRatio: { kind: 'most', first: 3, goal: 1.3 },
  selectorMs: { kind: 'most', first: 300, goal: 50 },
  pageStatements: { kind: 'most', first: 12, goal: 3 },
  countRatio: { kind: 'most', first: 1, goal: 0.5 },
  deepOffsetRatio: { kind: 'most', first: 12, goal: 1.5 },
  activityPageRatio: { kind: 'most', first: 2.5, goal: 1.3 },
  reportRatio: { kind: 'most', first: 5, goal: 1.3 },
  reportMiB: { kind: 'most', first: 100, goal: 20 },
  latenessSeconds: { kind: 'most', first: 60, goal: 5 },
  fairnessRatio: { kind: 'most', first: 3, goal: 1.2 },
  warmSeconds: { kind: 'most', first: 10, goal: 2 },
  queuedRatio: { kind: 'most', first: 10, goal: 1.5 },
  exchangeRatio: { kind: 'most', first: 4, goal: 1.5 },
  middlewareUs: { kind: 'most', first: 60, goal: 15 },
  recoveryExtraSeconds: { kind: 'most', first: 10, goal: 2 },
  idlePercent: { kind: 'most', first: 5, goal: 1 },
  packageExchanges: { kind: 'most', first: 4, goal: 2 },
  mapPaintMs: { kind: 'most', first: 1000, goal: 500 },
  panFrames: { kind: 'least', first: 50, goal: 58 },
  blankRows: { kind: 'most', first: 0, goal: 0 },
  eventPixelMs: { kind: 'most', first: 500, goal: 250 },
  soakPercent: { kind: 'most', first: 5, goal: 0.5 },
} as const satisfies Record<string, Target>;
