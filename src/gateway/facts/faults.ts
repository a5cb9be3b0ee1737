import { MalformedMessage, storable } from './fields.ts';

/** What became of a value that could not be stored as it came: its text was cut, it was left out, or the whole message. */
export const FAULT_OUTCOMES = ['shortened', 'skipped', 'refused'] as const;

export type FaultOutcome = (typeof FAULT_OUTCOMES)[number];

/** Values of one type of message that met the same fate for the same reason. */
export interface Fault {
  type: string;
  outcome: FaultOutcome;
  /** Of a closed list: nothing that agents choose is in it. */
  reason: string;
  /** What it happened to, as people can recognize it; some of them, each short. */
  items: string[];
  count: number;
}

/** Items that a fault names at most. */
const MAX_ITEMS = 3;
const MAX_ITEM_LENGTH = 100;

/** The faults of the messages of one exchange. */
export class Faults {
  readonly #faults = new Map<string, Fault>();

  get all(): readonly Fault[] {
    return [...this.#faults.values()];
  }

  add({ type, outcome, reason, items, count }: Fault): void {
    const key = `${type} ${outcome} ${reason}`;
    const known = this.#faults.get(key) ?? { type, outcome, reason, items: [], count: 0 };
    const named = [...new Set([...known.items, ...items])].slice(0, MAX_ITEMS);
    this.#faults.set(key, { ...known, items: named, count: known.count + count });
  }

  /** Types of messages that could not be used at all. */
  get refused(): string[] {
    return this.all.filter(({ outcome }) => outcome === 'refused').map(({ type }) => type);
  }
}

/** Names an item, where there is something to note of it. */
export type Called = () => string;

/** Takes down what happens to the values of one message while it is read. */
export class Notes {
  readonly type: string;
  readonly #faults = new Faults();
  #skipped: string | null = null;

  constructor(type: string) {
    this.type = type;
  }

  get faults(): readonly Fault[] {
    return this.#faults.all;
  }

  /** Text that is only shown was cut. */
  shortened(reason: string, item?: Called): void {
    this.#note('shortened', reason, item);
  }

  /** Something was left out; what came with it counts. */
  skipped(reason: string, item?: Called): void {
    this.#skipped ??= reason;
    this.#note('skipped', reason, item);
  }

  /** The message is of no use, but something of it is kept for people to look at. */
  refused(reason: string): void {
    this.#note('refused', reason);
  }

  /** @throws {MalformedMessage} when something was left out and nothing of use remains */
  requireUse(isOfUse: boolean): void {
    if (!isOfUse && this.#skipped !== null) throw new MalformedMessage(this.#skipped);
  }

  #note(outcome: FaultOutcome, reason: string, item?: Called): void {
    this.#faults.add({ type: this.type, outcome, reason, items: item ? [item()] : [], count: 1 });
  }
}

/** An item as a fault names it: of what kind it is, and its name or number as reported. */
export function called(kind: string, name: unknown): string {
  const text = name instanceof Uint8Array ? Buffer.from(name.subarray(0, 4 * MAX_ITEM_LENGTH)).toString('utf8') : name;
  if (typeof text === 'number' || typeof text === 'bigint') return `${kind} ${String(text).slice(0, MAX_ITEM_LENGTH)}`;
  if (typeof text !== 'string') return kind;
  const clean = storable(text.slice(0, MAX_ITEM_LENGTH + 1)).replace(/\p{Cc}+/gu, ' ');
  return `${kind} "${clean.length > MAX_ITEM_LENGTH ? `${clean.slice(0, MAX_ITEM_LENGTH).toWellFormed()}…` : clean}"`;
}
