/** Times in UTC that match in every field; null matches anything. */
export interface CalendarTimes {
  minutes: readonly number[];
  hours: readonly number[];
  daysOfMonth: readonly number[] | null;
  months: readonly number[] | null;
  /** 0 is Sunday. */
  daysOfWeek: readonly number[] | null;
}

export type ScheduleTimes =
  | { kind: 'dates'; dates: readonly Date[] }
  | { kind: 'calendars'; calendars: readonly CalendarTimes[]; startAt: Date | null };

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
 * `busy`: all computers have an open run; `known`: the date or one-time profile has run; `superseded`: a later date is
 * due too; `too-soon`: after the last run; `not-planned`: an edited profile or future date; `archived`: none is active.
 */
export type DueOutcome = 'started' | 'busy' | 'known' | 'superseded' | 'too-soon' | 'not-planned' | 'archived';

export interface RunStart {
  outcome: DueOutcome;
  activity?: number;
}

export const PROFILE_KINDS = ['usg', 'script'] as const;
export type ProfileKindName = (typeof PROFILE_KINDS)[number];

export function scheduleIdOf(kind: ProfileKindName, profileId: number): string {
  return `${kind}/${profileId}`;
}

/** The profile of a schedule; null for any other id. */
export function parseScheduleId(id: string): { kind: ProfileKindName; profileId: number } | null {
  const match = /^([a-z]+)\/([1-9]\d{0,9})$/.exec(id);
  const kind = PROFILE_KINDS.find((name) => name === match?.[1]);
  return kind ? { kind, profileId: Number(match![2]) } : null;
}
