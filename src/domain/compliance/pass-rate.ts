/**
 * Share of passes in whole percent: 100 only when nothing fails, 0 only when nothing passes; null when nothing was
 * judged.
 */
export function passRate(passing: number, failing: number): number | null {
  const judged = passing + failing;
  if (judged === 0) return null;
  const rate = Math.round((100 * passing) / judged);
  if (passing === 0 || failing === 0) return rate;
  return Math.min(99, Math.max(1, rate));
}
