const MINUTE = 60_000;
const SHOWN = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;

/** Reads clocks of a zone as text, and looks at one moment after the other: slow. */
export function naiveClock(timezone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...SHOWN,
    second: 'numeric',
    hourCycle: 'h23',
    timeZone: timezone,
  });
  /** What clocks show, in ms as if in UTC. */
  const shown = (instant: number): number => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
  };
  return {
    shown,
    /**
     * The first moment at which clocks show a time; of one that they skip, the moment by the offset before.
     *
     * @param wall - since 1973, when offsets became multiples of a quarter of an hour
     */
    instant(wall: number): number {
      const quarter = 15 * MINUTE;
      let offset = 0;
      for (let instant = wall - 60 * quarter; instant <= wall + 60 * quarter; instant += quarter) {
        const now = shown(instant);
        if (now === wall) return instant;
        if (now > wall) break;
        offset = now - instant;
      }
      return wall - offset;
    },
  };
}
