const USG_MODES = ['audit', 'fix-audit', 'fix-restart-audit'] as const;
export type UsgMode = (typeof USG_MODES)[number];

/** Benchmarks by the names that agents know. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export const BENCHMARKS = [
  'disa_stig',
  'cis_level1_workstation',
  'cis_level1_server',
  'cis_level2_workstation',
  'cis_level2_server',
] as const;

export const CUSTOM_BENCHMARK = 'custom';

/** A limit of the compatible product only. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export const OVER_LIMIT = 5000;

const ALIASES: Readonly<Record<string, UsgMode>> = {
  'audit-fix': 'fix-audit',
  'audit-fix-restart': 'fix-restart-audit',
};

/** Reads current and older spellings. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export function readMode(word: string): UsgMode | null {
  return USG_MODES.find((mode) => mode === word) ?? (Object.hasOwn(ALIASES, word) ? ALIASES[word]! : null);
}

/** Storage key of a tailoring file, also its path for clients. @see docs/api-conventions.md#reports-and-files */
export function tailoringFileKey(profileId: number, at: Date): string {
  return `usg_profile_tailoring_file_ID${profileId}_${at.toISOString().slice(0, 19).replace(/\D/g, '')}`;
}

/** Pass rate in whole percent, rounded to 100 or 0 only when it is exact; null without results. */
export function passRate(passing: number, failing: number): number | null {
  const counted = passing + failing;
  if (counted === 0) return null;
  const rate = Math.round((100 * passing) / counted);
  if (passing === 0 || failing === 0) return rate;
  return Math.min(99, Math.max(1, rate));
}
