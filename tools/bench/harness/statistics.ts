/** Median and spread of the rounds. */
export interface Summary {
  median: number;
  min: number;
  max: number;
  rounds: number;
}

/**
 * The quantile `q` of the samples, by linear interpolation between neighbours.
 * @param q - from 0 to 1
 * @throws {RangeError} when there are no samples or `q` is out of range
 */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new RangeError('no samples');
  if (!(q >= 0 && q <= 1)) throw new RangeError('q must be from 0 to 1');
  const sorted = [...samples].sort((a, b) => a - b);
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position - Math.floor(position));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Median, minimum and maximum of one figure over the rounds. */
export function summarize(samples: readonly number[]): Summary {
  return {
    median: quantile(samples, 0.5),
    min: quantile(samples, 0),
    max: quantile(samples, 1),
    rounds: samples.length,
  };
}

/**
 * Ratios of neighbouring rounds: round i of the product over round i of the baseline, which cancels out drift of the
 * machine.
 * @throws {RangeError} when the two sides have different lengths
 */
export function pairedRatios(product: readonly number[], baseline: readonly number[]): number[] {
  if (product.length !== baseline.length) throw new RangeError('rounds do not pair up');
  return product.map((value, i) => value / baseline[i]!);
}

/** Latency percentiles in the unit of the samples. */
export interface Latency {
  count: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/** Percentiles of request times; all zero without samples. */
export function latency(samples: readonly number[]): Latency {
  if (samples.length === 0) return { count: 0, p50: 0, p95: 0, p99: 0, max: 0 };
  return {
    count: samples.length,
    p50: quantile(samples, 0.5),
    p95: quantile(samples, 0.95),
    p99: quantile(samples, 0.99),
    max: quantile(samples, 1),
  };
}

/**
 * Exponent e of `cost ~ size^e` between two measured points: 1 is linear growth, 0 none.
 * @throws {RangeError} when a value is not positive or both sizes are the same
 */
export function growthExponent(small: { size: number; cost: number }, large: { size: number; cost: number }): number {
  if (!(Math.min(small.size, large.size, small.cost, large.cost) > 0)) throw new RangeError('values must be positive');
  if (small.size === large.size) throw new RangeError('sizes must differ');
  return Math.log(large.cost / small.cost) / Math.log(large.size / small.size);
}

/** Slope of the least-squares line through points. @throws {RangeError} when there are fewer than two different x */
export function linearSlope(points: ReadonlyArray<{ x: number; y: number }>): number {
  const around = aroundMean(points);
  const spread = sum(around.map(({ x }) => x ** 2));
  if (!(spread > 0)) throw new RangeError('points need two different x');
  return sum(around.map(({ x, y }) => x * y)) / spread;
}

/**
 * Standard error of {@link linearSlope}.
 * @throws {RangeError} when there are fewer than three points or fewer than two different x
 */
export function slopeError(points: ReadonlyArray<{ x: number; y: number }>): number {
  if (points.length < 3) throw new RangeError('a line goes through two points without an error');
  const slope = linearSlope(points);
  const around = aroundMean(points);
  const off = sum(around.map(({ x, y }) => (y - slope * x) ** 2));
  return Math.sqrt(off / (points.length - 2) / sum(around.map(({ x }) => x ** 2)));
}

function aroundMean(points: ReadonlyArray<{ x: number; y: number }>): Array<{ x: number; y: number }> {
  const [meanX, meanY] = [sum(points.map(({ x }) => x)) / points.length, sum(points.map(({ y }) => y)) / points.length];
  return points.map(({ x, y }) => ({ x: x - meanX, y: y - meanY }));
}

/**
 * Exponent e of `cost ~ size^e` through all measured points: the slope between their logarithms.
 * @throws {RangeError} when a value is not positive or there are fewer than two different sizes
 */
export function fittedExponent(points: ReadonlyArray<{ size: number; cost: number }>): number {
  if (points.some(({ size, cost }) => !(size > 0 && cost > 0))) throw new RangeError('values must be positive');
  return linearSlope(points.map(({ size, cost }) => ({ x: Math.log(size), y: Math.log(cost) })));
}
