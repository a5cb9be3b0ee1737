import { toUtc } from '../../ui/times/zone.ts';

/** When an action reaches the computers, as the form has it. */
export interface Delivery {
  /** Date and time: in the person's zone in a form, in UTC in a plan; empty for at once. */
  at: string;
  /** Minutes. */
  spread: string;
  /** Id of an activity. */
  after: string;
}

export const AT_ONCE: Delivery = { at: '', spread: '', after: '' };

/** The fields of a request. What is no number is sent as it is, and the server explains it. */
export function deliveryOf({ at, spread, after }: Delivery) {
  return {
    ...(at !== '' && { deliver_after: at }),
    ...(spread !== '' && { deliver_delay_window: numberOr(spread) }),
    ...(after !== '' && { after: numberOr(after) }),
  };
}

/** The same as options of a command. */
export function formatDelivery({ at, spread, after }: Delivery): string[] {
  return [
    ...(at === '' ? [] : ['--deliver-after', at]),
    ...(spread === '' ? [] : ['--spread', `${spread}m`]),
    ...(after === '' ? [] : ['--after', after]),
  ];
}

/** A local time of a zone in UTC; what is no time stays, and the server explains it. */
export function momentOf(local: string, zone: string): string {
  return toUtc(local, zone) ?? local;
}

/** A number where the text is one. */
export function numberOr(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}
