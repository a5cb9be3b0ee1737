/** Every alert by the name that the query language gives it. @see docs/api-conventions.md#alerts */
export const ALERT_NAMES = [
  'package-upgrades',
  'security-upgrades',
  'package-profiles',
  'package-reporter',
  'computer-offline',
  'computer-reboot',
  'esm-disabled',
  'computer-duplicates',
  'unapproved-activities',
  'child-instance-profiles',
] as const;

export type AlertName = (typeof ALERT_NAMES)[number];

/** The alert that is about profiles instead of computers; no selector names it. */
export const PROFILE_ALERT = 'profile-creators';
