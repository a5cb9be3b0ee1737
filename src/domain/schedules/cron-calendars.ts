import type { CronSchedule } from './cron.ts';
import type { CalendarTimes } from './desired-schedule.ts';

/**
 * What a cron schedule means to a server whose calendars match when all of their fields do: where either kind of day is
 * enough, one calendar for each.
 *
 * @see docs/architecture.md#cron
 */
export function cronCalendars({ daysOfMonth, daysOfWeek, ...times }: CronSchedule): CalendarTimes[] {
  if (daysOfMonth === null || daysOfWeek === null) return [{ ...times, daysOfMonth, daysOfWeek }];
  return [
    { ...times, daysOfMonth, daysOfWeek: null },
    { ...times, daysOfMonth: null, daysOfWeek },
  ];
}
