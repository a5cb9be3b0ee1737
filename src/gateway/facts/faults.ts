import { MalformedMessage, sanitizeText } from './fields.ts';

const FAULT_OUTCOMES = ['shortened', 'skipped', 'refused'] as const;

type FaultOutcome = (typeof FAULT_OUTCOMES)[number];

export interface Fault {
  type: string;
  outcome: FaultOutcome;
  reason: string;
  items: string[];
  count: number;
}

const MAX_ITEMS = 3;
const MAX_ITEM_LENGTH = 100;

/** Faults by type, outcome and reason, each with its count and the names of up to three items. */
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

  get rejectedTypes(): string[] {
    return this.all.filter(({ outcome }) => outcome === 'refused').map(({ type }) => type);
  }
}

export type ItemName = () => string;

/** The faults of one message. */
export class MessageFaults {
  readonly type: string;
  readonly #faults = new Faults();
  #skipped: string | null = null;

  constructor(type: string) {
    this.type = type;
  }

  get all(): readonly Fault[] {
    return this.#faults.all;
  }

  /** A text was truncated. */
  shortened(reason: string, item?: ItemName): void {
    this.#add('shortened', reason, item);
  }

  /** An item or field was omitted. */
  skipped(reason: string, item?: ItemName): void {
    this.#skipped ??= reason;
    this.#add('skipped', reason, item);
  }

  /** The message is rejected, but part of it is stored for inspection. */
  rejected(reason: string): void {
    this.#add('refused', reason);
  }

  /** @throws {MalformedMessage} if something was omitted and nothing usable remains */
  requireUsable(isUsable: boolean): void {
    if (!isUsable && this.#skipped !== null) throw new MalformedMessage(this.#skipped);
  }

  #add(outcome: FaultOutcome, reason: string, item?: ItemName): void {
    this.#faults.add({ type: this.type, outcome, reason, items: item ? [item()] : [], count: 1 });
  }
}

/** An item as named in faults: its kind, and its reported name or number. */
export function describeItem(kind: string, name: unknown): string {
  const text = name instanceof Uint8Array ? Buffer.from(name.subarray(0, 4 * MAX_ITEM_LENGTH)).toString('utf8') : name;
  if (typeof text === 'number' || typeof text === 'bigint') return `${kind} ${String(text).slice(0, MAX_ITEM_LENGTH)}`;
  if (typeof text !== 'string') return kind;
  const clean = sanitizeText(text.slice(0, MAX_ITEM_LENGTH + 1)).replace(/\p{Cc}+/gu, ' ');
  return `${kind} "${clean.length > MAX_ITEM_LENGTH ? `${clean.slice(0, MAX_ITEM_LENGTH).toWellFormed()}…` : clean}"`;
}
