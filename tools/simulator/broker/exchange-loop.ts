import { type BObject, type BValue, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import type { FleetContext } from '../fleet-context.ts';
import { type Knobs, type Mishap, strikes } from '../knobs.ts';
import type { Intervals } from '../settings.ts';
import type { Moment } from '../timer-wheel.ts';
import type { Reply } from '../transport.ts';
import type { Haste } from './session.ts';

/** Who speaks in a loop. */
export interface Speaker {
  readonly knobs: Knobs;
  /** Cannot speak now. */
  readonly isSilent: boolean;
  /** Grows whenever the agent's process ends; answers to an earlier one are lost. */
  readonly life: number;
  readonly isEnrolled: boolean;
  readonly computerId: number | null;
  /** Queues what a regular exchange brings along. */
  beforeRegular(): void;
  prepare(): { headers: Record<string, string>; payload: BObject; sent: number };
  /** @throws when it is no answer to a payload */
  receive(answer: BValue, sent: number): Haste;
}

/** @see docs/agent-protocol.md#control-messages */
const SHORTEST_INTERVAL_SECONDS = 10;

const MAX_BACKOFF = 4;
const MESSAGES_WAIT = encode({ messages: true });

/** When an agent exchanges and pings, and what happens to its payloads on the way. */
export class ExchangeLoop {
  intervals: Intervals;
  /** Those that the server set; they outlive the process. */
  readonly intervalsSet: Partial<Intervals>;
  isExchanging = false;
  readonly #context: FleetContext;
  readonly #speaker: Speaker;
  #due: { at: number; moment: Moment } | null = null;
  #failures = 0;
  /** A slow gateway gets one ping of a computer at a time. */
  #pinging = false;

  constructor(context: FleetContext, speaker: Speaker, intervalsSet: Partial<Intervals> = {}) {
    this.#context = context;
    this.#speaker = speaker;
    this.intervalsSet = { ...intervalsSet };
    this.intervals = { ...context.settings.times, ...intervalsSet };
  }

  /**
   * Takes over the intervals of a `set-intervals` message.
   *
   * @returns false when they are so short that a real agent stops exchanging for good
   */
  adopt({ exchange, 'urgent-exchange': urgent, ping }: BObject): boolean {
    if (typeof exchange === 'number') this.intervalsSet.exchangeMs = exchange * 1000;
    if (typeof urgent === 'number') this.intervalsSet.urgentMs = urgent * 1000;
    if (typeof ping === 'number') this.intervalsSet.pingMs = ping * 1000;
    this.intervals = { ...this.intervals, ...this.intervalsSet };
    return ![exchange, urgent].some((seconds) => typeof seconds === 'number' && seconds < SHORTEST_INTERVAL_SECONDS);
  }

  /** Begins to exchange after a delay, and to ping at a random moment of the interval after it. */
  start(delayMs: number): void {
    this.schedule(delayMs);
    this.#pingAfter(delayMs + this.intervals.pingMs * this.#context.draws.next());
  }

  /** Makes an exchange due; an earlier one that is due already stays. */
  schedule(delayMs: number, regular = false): void {
    const at = performance.now() + delayMs;
    if (this.#due && this.#due.at <= at) return;
    this.#due?.moment.cancel();
    this.#due = { at, moment: this.#context.wheel.after(delayMs, () => void this.#exchange(regular)) };
  }

  urgent(): void {
    this.schedule(this.intervals.urgentMs);
  }

  async #exchange(regular: boolean): Promise<void> {
    this.#due = null;
    if (this.isExchanging) return this.urgent();
    if (this.#speaker.isSilent) return this.schedule(this.intervals.pingMs, regular);
    this.isExchanging = true;
    try {
      if (regular) this.#speaker.beforeRegular();
      this.#follow(await this.#context.transport.turn(() => this.#speak()));
    } catch (error) {
      this.#context.statistics.failedExchanges++;
      this.#context.settings.logger.debug({ err: error }, 'exchange failed');
      this.#retry();
    } finally {
      this.isExchanging = false;
    }
  }

  #follow(haste: Haste): void {
    if (haste !== 'retry') this.#failures = 0;
    if (haste === 'retry') this.#retry();
    else if (haste === 'regular') this.schedule(this.intervals.exchangeMs, true);
    else if (haste === 'urgent') this.urgent();
    else this.schedule(0);
  }

  /** Waits longer from failure to failure, unlike the real agents, whose first wait is a minute. */
  #retry(): void {
    const { retryMs } = this.#context.settings.times;
    this.schedule(retryMs * Math.min(2 ** this.#failures++, MAX_BACKOFF));
  }

  async #speak(): Promise<Haste> {
    const { life, isEnrolled } = this.#speaker;
    const { headers, payload, sent } = this.#speaker.prepare();
    const body = encode(payload);
    const post = (): Promise<Reply> => this.#context.transport.post('message-system', body, headers);
    let reply = await post();
    if (isEnrolled && this.#strikes('duplicateSends')) reply = await post();
    if (life !== this.#speaker.life) throw new Error('the agent that asked is gone');
    if (reply.status !== 200) throw new Error(`the gateway answered ${reply.status}`);
    if (isEnrolled && this.#strikes('lostAnswers')) throw new Error('the answer got lost');
    const haste = this.#speaker.receive(decode(reply.body), sent);
    this.#context.statistics.exchanges++;
    return haste;
  }

  #strikes(mishap: Mishap): boolean {
    return strikes(this.#speaker.knobs, mishap, this.#context.draws.next());
  }

  #pingAfter(delayMs: number): void {
    this.#context.wheel.after(delayMs, () => void this.#ping());
  }

  async #ping(): Promise<void> {
    this.#pingAfter(this.intervals.pingMs);
    const id = this.#speaker.computerId;
    if (id === null || this.#pinging || this.#speaker.isSilent) return;
    this.#pinging = true;
    try {
      const { transport, statistics } = this.#context;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { status, body } = await transport.turn(() => transport.post('ping', `insecure_id=${id}`, headers));
      statistics.pings++;
      if (status === 200 && body.equals(MESSAGES_WAIT)) this.urgent();
      else if (status !== 200 || !isDict(decode(body))) statistics.failedPings++;
    } catch {
      this.#context.statistics.failedPings++;
    } finally {
      this.#pinging = false;
    }
  }
}
