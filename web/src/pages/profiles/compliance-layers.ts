import type { components } from '@flotilla/client';

export type ComplianceDay = components['schemas']['UsgCompliance']['days'][number];

/**
 * Days as uPlot takes them: their times in seconds, and one layer for each colour, the largest first, because each is drawn over
 * those before it.
 */
export function layersOf(days: readonly ComplianceDay[]): [number[], number[], number[], number[]] {
  return [
    days.map(({ date }) => Date.parse(date) / 1000),
    days.map(({ passing, failing, not_audited }) => passing + failing + not_audited),
    days.map(({ passing, failing }) => passing + failing),
    days.map(({ passing }) => passing),
  ];
}
