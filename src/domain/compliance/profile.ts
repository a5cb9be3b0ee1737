export const USG_MODES = ['audit', 'fix-audit', 'fix-restart-audit'] as const;
export type UsgMode = (typeof USG_MODES)[number];

/** Benchmarks that agents know by name. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export const BENCHMARKS = [
  'disa_stig',
  'cis_level1_workstation',
  'cis_level1_server',
  'cis_level2_workstation',
  'cis_level2_server',
] as const;

/** Shown as the benchmark of a profile whose rules come from a tailoring file. */
export const CUSTOM_BENCHMARK = 'custom';

/** More computers than this are over the limit of the compatible product; ours has none. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export const OVER_LIMIT = 5000;

const ALIASES: Readonly<Record<string, UsgMode>> = {
  'audit-fix': 'fix-audit',
  'audit-fix-restart': 'fix-restart-audit',
};

/** The mode that a word names, also by its older spellings; null for any other. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export function readMode(word: string): UsgMode | null {
  return USG_MODES.find((mode) => mode === word) ?? (Object.hasOwn(ALIASES, word) ? ALIASES[word]! : null);
}

/** Key of a tailoring file, which is also its path for clients. @see docs/api-conventions.md#reports-and-files */
export function tailoringFileKey(profileId: number, at: Date): string {
  return `usg_profile_tailoring_file_ID${profileId}_${at.toISOString().slice(0, 19).replace(/\D/g, '')}`;
}

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
