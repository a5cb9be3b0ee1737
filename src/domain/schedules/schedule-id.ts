/** Kinds of profiles that schedules start. */
export const PROFILE_KINDS = ['usg', 'script'] as const;
export type ProfileKindName = (typeof PROFILE_KINDS)[number];

/** Id of a profile's schedule on the Temporal server. */
export function scheduleIdOf(kind: ProfileKindName, profileId: number): string {
  return `${kind}/${profileId}`;
}

/** The profile a schedule belongs to; null for any other id. */
export function parseScheduleId(id: string): { kind: ProfileKindName; profileId: number } | null {
  const match = /^([a-z]+)\/([1-9]\d{0,9})$/.exec(id);
  const kind = PROFILE_KINDS.find((name) => name === match?.[1]);
  return kind ? { kind, profileId: Number(match![2]) } : null;
}
