/** Moments in UTC whose every field matches; null matches anything. */
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

/** When a schedule is due: at single dates, or whenever one of some calendars matches. */
export type ScheduleTimes =
  | { kind: 'dates'; dates: readonly Date[] }
  | { kind: 'calendars'; calendars: readonly CalendarTimes[]; startAt: Date | null };

/** What the schedule of a profile on the Temporal server should be like. */
export interface DesiredSchedule {
  kind: ProfileKindName;
  profileId: number;
  accountId: number;
  times: ScheduleTimes;
  /** Shown beside the workflows it starts; encrypted. */
  summary: string;
  /** Shown beside the schedule; not encrypted. */
  note: string;
}

/** Whether nothing is due any more. */
export function isExhausted({ times }: DesiredSchedule): boolean {
  return times.kind === 'dates' ? times.dates.length === 0 : times.calendars.length === 0;
}

/**
 * The outcome of a date. `busy`: every computer still has an open run; `known`: it has a run already, or the only run of the
 * profile was started before; `superseded`: a later date is due as well; `too-soon`: the previous run is closer than the
 * limits allow; `not-planned`: the profile was changed meanwhile, or the date is in the future; `archived`: there is no
 * active profile.
 */
export type DueOutcome = 'started' | 'busy' | 'known' | 'superseded' | 'too-soon' | 'not-planned' | 'archived';

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
