/** A meaning of one of the digits of a map. */
interface LegendEntry {
  name: string;
  label: string;
}

/** What a map of computers can show of each, with the meanings of the digits from 0 on. */
export const MAP_LEGENDS = {
  state: [
    { name: 'fine', label: 'Fine' },
    { name: 'needs-restart', label: 'Needs restart' },
    { name: 'has-alerts', label: 'Has alerts' },
    { name: 'offline', label: 'Offline' },
  ],
  contact: [
    { name: 'minutes', label: 'In the last 5 minutes' },
    { name: 'hour', label: 'In the last hour' },
    { name: 'day', label: 'In the last day' },
    { name: 'week', label: 'In the last week' },
    { name: 'longer', label: 'Longer ago' },
    { name: 'never', label: 'Never' },
  ],
  compliance: [
    { name: 'no-result', label: 'Never audited' },
    { name: 'pass', label: 'Passed' },
    { name: 'fail', label: 'Failed' },
  ],
  activity: [
    { name: 'none', label: 'Not affected' },
    { name: 'succeeded', label: 'Succeeded' },
    { name: 'waiting', label: 'Waiting' },
    { name: 'delivered', label: 'In progress' },
    { name: 'canceled', label: 'Canceled' },
    { name: 'failed', label: 'Failed' },
  ],
} as const satisfies Record<string, readonly LegendEntry[]>;

export type MapColor = keyof typeof MAP_LEGENDS;

/** The digit of a meaning. */
export function digitOf<C extends MapColor>(color: C, name: (typeof MAP_LEGENDS)[C][number]['name']): number {
  return MAP_LEGENDS[color].findIndex((entry) => entry.name === name);
}

const MAP_GROUPINGS = ['none', 'access_group', 'tag'] as const;
export type MapGrouping = (typeof MAP_GROUPINGS)[number];
