import type { ProfileKindName } from './schedule-id.ts';

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
  /** What operators read beside the workflows it starts; kept encrypted. */
  summary: string;
  /** What operators read beside the schedule; the server keeps it as it is. */
  note: string;
}

/** Whether nothing is due any more. */
export function isExhausted({ times }: DesiredSchedule): boolean {
  return times.kind === 'dates' ? times.dates.length === 0 : times.calendars.length === 0;
}
