/** Alerts by their names in the query language. @see docs/api-conventions.md#alerts */
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

/** The only alert about profiles; no selector matches it. */
export const PROFILE_ALERT = 'profile-creators';

/** About webhooks that the server has paused; only holders of ManageAccount see them. */
export const WEBHOOK_ALERT = 'webhook-paused';
