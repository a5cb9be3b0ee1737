/** Times in UTC that match in every field; null matches anything. */
export interface CalendarTimes {
  minutes: readonly number[];
  hours: readonly number[];
  /** 1 to 31. */
  daysOfMonth: readonly number[] | null;
  /** 1 to 12. */
  months: readonly number[] | null;
  /** 0 is Sunday. */
  daysOfWeek: readonly number[] | null;
}

/** Either single dates or all times that match a calendar. */
export type ScheduleTimes =
  | { kind: 'dates'; dates: readonly Date[] }
  | { kind: 'calendars'; calendars: readonly CalendarTimes[]; startAt: Date | null };

/** The expected state of a profile's schedule on the Temporal server. */
export interface DesiredSchedule {
  kind: ProfileKindName;
  profileId: number;
  accountId: number;
  times: ScheduleTimes;
  /** Shown with the started workflows; encrypted. */
  summary: string;
  /** Shown with the schedule; not encrypted. */
  note: string;
}

/** Whether no date is left. */
export function isExhausted({ times }: DesiredSchedule): boolean {
  return times.kind === 'dates' ? times.dates.length === 0 : times.calendars.length === 0;
}

/**
 * The outcome of a date. `busy`: all computers have an open run; `known`: the date already has a run, or a one-time
 * profile has run; `superseded`: a later date is due too; `too-soon`: the previous run is too recent; `not-planned`:
 * the profile was changed, or the date is in the future; `archived`: there is no active profile.
 */
export type DueOutcome = 'started' | 'busy' | 'known' | 'superseded' | 'too-soon' | 'not-planned' | 'archived';

export interface RunStart {
  outcome: DueOutcome;
  activity?: number;
}

export const PROFILE_KINDS = ['usg', 'script'] as const;
export type ProfileKindName = (typeof PROFILE_KINDS)[number];

/** Id of a profile's schedule on the Temporal server. */
export function scheduleIdOf(kind: ProfileKindName, profileId: number): string {
  return `${kind}/${profileId}`;
}

/** The profile of a schedule; null for any other id. */
export function parseScheduleId(id: string): { kind: ProfileKindName; profileId: number } | null {
  const match = /^([a-z]+)\/([1-9]\d{0,9})$/.exec(id);
  const kind = PROFILE_KINDS.find((name) => name === match?.[1]);
  return kind ? { kind, profileId: Number(match![2]) } : null;
}
