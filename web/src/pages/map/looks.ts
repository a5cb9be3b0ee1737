import type { components } from '@flotilla/client';

export type ComputerMap = components['schemas']['ComputerMap'];

/** How a value looks: a colour of map.css, and a mark in it, so that none depends on its colour alone. */
export interface Look {
  tone: string;
  mark: MarkName;
}

/** Paths in a square of 16 by 16. */
export const MARKS = {
  none: '',
  dot: 'M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6Z',
  bar: 'M3 7h10v2H3Z',
  triangle: 'M8 3l5.5 10h-11Z',
  cross: 'M4.4 3L8 6.6L11.6 3L13 4.4L9.4 8L13 11.6L11.6 13L8 9.4L4.4 13L3 11.6L6.6 8L3 4.4Z',
  ring: 'M8 3a5 5 0 1 0 0 10a5 5 0 0 0 0-10Zm0 2a3 3 0 1 1 0 6a3 3 0 0 1 0-6Z',
} as const;

export type MarkName = keyof typeof MARKS;

const LOOKS: Readonly<Record<string, Readonly<Record<string, Look>>>> = {
  state: {
    fine: { tone: 'good-soft', mark: 'none' },
    'needs-restart': { tone: 'busy', mark: 'ring' },
    'has-alerts': { tone: 'warn', mark: 'triangle' },
    offline: { tone: 'bad', mark: 'cross' },
  },
  contact: {
    minutes: { tone: 'good-soft', mark: 'none' },
    hour: { tone: 'good', mark: 'dot' },
    day: { tone: 'busy', mark: 'ring' },
    week: { tone: 'warn', mark: 'triangle' },
    longer: { tone: 'bad', mark: 'cross' },
    never: { tone: 'idle-soft', mark: 'bar' },
  },
  compliance: {
    'no-result': { tone: 'idle-soft', mark: 'bar' },
    pass: { tone: 'good-soft', mark: 'none' },
    fail: { tone: 'bad', mark: 'cross' },
  },
  activity: {
    none: { tone: 'idle-soft', mark: 'bar' },
    succeeded: { tone: 'good', mark: 'none' },
    waiting: { tone: 'idle', mark: 'dot' },
    delivered: { tone: 'busy', mark: 'ring' },
    canceled: { tone: 'warn', mark: 'triangle' },
    failed: { tone: 'bad', mark: 'cross' },
  },
};

const UNKNOWN: Look = { tone: 'idle', mark: 'dot' };

/** The looks of a legend's entries, in their order. @param color - as in the address, such as `activity:7` */
export function looksOf(color: string, legend: ComputerMap['legend']): Look[] {
  const looks = LOOKS[color.split(':')[0]!] ?? {};
  return legend.map(({ name }) => looks[name] ?? UNKNOWN);
}
