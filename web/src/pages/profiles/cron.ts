/** Cron fields as the form shows them. Numbers are texts, as fields have them. */
export interface Recurring {
  every: 'hours' | 'day' | 'week' | 'month' | 'custom';
  hours: string;
  minute: string;
  /** `09:30` */
  time: string;
  /** 0 is Sunday. */
  weekdays: readonly string[];
  day: string;
  /** The text of cron fields that the other fields cannot express. */
  cron: string;
}

export const CRON_WEEKDAYS: ReadonlyArray<{ value: string; label: string }> = [
  { value: '1', label: 'Mon' },
  { value: '2', label: 'Tue' },
  { value: '3', label: 'Wed' },
  { value: '4', label: 'Thu' },
  { value: '5', label: 'Fri' },
  { value: '6', label: 'Sat' },
  { value: '0', label: 'Sun' },
];

export const NIGHTLY: Recurring = {
  every: 'day',
  hours: '6',
  minute: '0',
  time: '02:00',
  weekdays: ['1'],
  day: '1',
  cron: '',
};

/** Five cron fields. */
export function toCron({ every, hours, minute, time, weekdays, day, cron }: Recurring): string {
  const [hour = '0', atMinute = '0'] = time.split(':').map((part) => String(Number(part)));
  switch (every) {
    case 'hours':
      return `${minute} ${hours === '1' ? '*' : `*/${hours}`} * * *`;
    case 'day':
      return `${atMinute} ${hour} * * *`;
    case 'week':
      return `${atMinute} ${hour} * * ${[...weekdays].sort().join(',') || '*'}`;
    case 'month':
      return `${atMinute} ${hour} ${day} * *`;
    case 'custom':
      return cron.trim();
  }
}

/** Whether each field that is shown has a value. */
export function isFilled({ every, hours, minute, time, day, cron }: Recurring): boolean {
  const shown = { hours: [hours, minute], day: [time], week: [time], month: [day, time], custom: [cron] }[every];
  return shown.every((field) => field.trim() !== '');
}

/** Reads cron fields into those of the form; what they cannot express stays a text. */
export function fromCron(text: string): Recurring {
  const [minute = '', hour = '', day = '', month, weekday = ''] = text.split(/\s+/);
  const isNumber = (field: string) => /^\d{1,2}$/.test(field);
  const custom: Recurring = { ...NIGHTLY, every: 'custom', cron: text };
  if (!isNumber(minute) || month !== '*') return custom;
  const [, step = hour === '*' ? '1' : undefined] = /^\*\/(\d{1,2})$/.exec(hour) ?? [];
  if (step !== undefined && day === '*' && weekday === '*') return { ...NIGHTLY, every: 'hours', hours: step, minute };
  if (!isNumber(hour)) return custom;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (day === '*' && weekday === '*') return { ...NIGHTLY, every: 'day', time };
  if (day === '*' && /^[0-6](,[0-6])*$/.test(weekday)) {
    return { ...NIGHTLY, every: 'week', time, weekdays: weekday.split(',') };
  }
  return isNumber(day) && weekday === '*' ? { ...NIGHTLY, every: 'month', time, day } : custom;
}

/** Cron fields in words; their text if the form has no words for them. */
export function describeCron(text: string): string {
  const { every, hours, minute, time, weekdays, day } = fromCron(text);
  const names = CRON_WEEKDAYS.filter(({ value }) => weekdays.includes(value)).map(({ label }) => label);
  switch (every) {
    case 'hours':
      return `${hours === '1' ? 'Every hour' : `Every ${hours} hours`} at minute ${minute}`;
    case 'day':
      return `Every day at ${time}`;
    case 'week':
      return `Every ${names.join(', ')} at ${time}`;
    case 'month':
      return `Every month on day ${day} at ${time}`;
    case 'custom':
      return text;
  }
}
