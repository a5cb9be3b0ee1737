/** When an action reaches the computers, as the form has it. */
export interface Delivery {
  /** Local date and time as a form has them; empty for at once. */
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
    ...(at !== '' && { deliver_after: momentOf(at) }),
    ...(spread !== '' && { deliver_delay_window: numberOr(spread) }),
    ...(after !== '' && { after: numberOr(after) }),
  };
}

/** The same as options of a command. */
export function formatDelivery({ at, spread, after }: Delivery): string[] {
  return [
    ...(at === '' ? [] : ['--deliver-after', momentOf(at)]),
    ...(spread === '' ? [] : ['--spread', `${spread}m`]),
    ...(after === '' ? [] : ['--after', after]),
  ];
}

/** A local time of the person in UTC, in whole seconds. */
export function momentOf(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A number where the text is one. */
export function numberOr(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}
