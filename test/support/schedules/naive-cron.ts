const NAMES = ['jan feb mar apr may jun jul aug sep oct nov dec', 'sun mon tue wed thu fri sat'];

/**
 * Tells of a minute in UTC whether cron text means it, written from the words of POSIX and nothing else: five fields,
 * and where neither kind of day is `*`, either is enough.
 */
export function naiveCron(text: string): (minute: Date) => boolean {
  const [minutes, hours, days, months, weekdays] = text.trim().split(/\s+/) as [string, string, string, string, string];
  return (date) => {
    const day = matches(days, date.getUTCDate(), 1, 31);
    const weekday =
      matches(weekdays, date.getUTCDay(), 0, 7, NAMES[1]) ||
      (date.getUTCDay() === 0 && matches(weekdays, 7, 0, 7, NAMES[1]));
    const isDay = !isAny(days) && !isAny(weekdays) ? day || weekday : day && weekday;
    return (
      isDay &&
      matches(minutes, date.getUTCMinutes(), 0, 59) &&
      matches(hours, date.getUTCHours(), 0, 23) &&
      matches(months, date.getUTCMonth() + 1, 1, 12, NAMES[0])
    );
  };
}

const isAny = (field: string) => field === '*' || field === '*/1';

function matches(field: string, value: number, low: number, high: number, names?: string): boolean {
  const number = (word: string) => {
    const place = names?.split(' ').indexOf(word.toLowerCase()) ?? -1;
    return place < 0 ? Number(word) : place + low;
  };
  return field.split(',').some((item) => {
    const [range, step] = item.split('/') as [string, string | undefined];
    const [first, last] = range === '*' ? [low, high] : range.split('-').map(number);
    const end = last ?? (step === undefined ? first! : high);
    return value >= first! && value <= end && (value - first!) % Number(step ?? 1) === 0;
  });
}
