import { type BObject, type BValue, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import { type ComputerOptions, type EventFault, faultOccurs } from '../computer-options.ts';
import type { FleetContext } from '../fleet-context.ts';
import type { Intervals } from '../settings.ts';
import type { Timer } from '../timer-wheel.ts';
import type { Reply } from '../transport.ts';
import type { NextExchange } from './session.ts';

export interface LoopHost {
  readonly options: ComputerOptions;
  readonly isOffline: boolean;
  /** Incremented when the process ends; responses to an earlier one are lost. */
  readonly incarnation: number;
  readonly isEnrolled: boolean;
  readonly computerId: number | null;
  /** As an agent does before it requests ids of packages, if it has none. */
  downloadHashIds(): Promise<void>;
  /** Queues what every regular exchange reports. */
  beforeRegularExchange(): void;
  prepare(): { headers: Record<string, string>; payload: BObject; sent: number };
  /** @throws {InvalidResponse} */
  receive(response: BValue, sent: number): NextExchange;
}

/** @see docs/agent-protocol.md#control-messages */
const SHORTEST_INTERVAL_SECONDS = 10;

const MAX_BACKOFF = 4;
const MESSAGES_WAIT = encode({ messages: true });

/** Schedules the exchanges and pings of an agent, and injects faults. */
export class ExchangeLoop {
  intervals: Intervals;
  /** Set by the server; kept across restarts. */
  readonly intervalsSet: Partial<Intervals>;
  isExchanging = false;
  readonly #context: FleetContext;
  readonly #host: LoopHost;
  #due: { at: number; timer: Timer } | null = null;
  #failures = 0;
  #pinging = false;
  #nextPing: Timer | null = null;

  constructor(context: FleetContext, host: LoopHost, intervalsSet: Partial<Intervals> = {}) {
    this.#context = context;
    this.#host = host;
    this.intervalsSet = { ...intervalsSet };
    this.intervals = { ...context.settings.times, ...intervalsSet };
  }

  /**
   * Applies a `set-intervals` message.
   * @returns false if the intervals are so short that a real agent stops exchanging for good
   */
  adopt({ exchange, 'urgent-exchange': urgent, ping }: BObject): boolean {
    if (typeof exchange === 'number') this.intervalsSet.exchangeMs = exchange * 1000;
    if (typeof urgent === 'number') this.intervalsSet.urgentMs = urgent * 1000;
    if (typeof ping === 'number') this.intervalsSet.pingMs = ping * 1000;
    this.intervals = { ...this.intervals, ...this.intervalsSet };
    if (typeof ping === 'number') this.#pingAfter(this.intervals.pingMs);
    return ![exchange, urgent].some((seconds) => typeof seconds === 'number' && seconds < SHORTEST_INTERVAL_SECONDS);
  }

  /** The first ping comes at a random time of the interval after the delay. */
  start(delayMs: number): void {
    this.schedule(delayMs);
    this.#pingAfter(delayMs + this.intervals.pingMs * this.#context.random.next());
  }

  schedule(delayMs: number, regular = false): void {
    const at = performance.now() + delayMs;
    if (this.#due && this.#due.at <= at) return;
    this.#due?.timer.cancel();
    this.#due = { at, timer: this.#context.wheel.after(delayMs, () => void this.#start(regular)) };
  }

  urgent(): void {
    this.schedule(this.intervals.urgentMs);
  }

  async #start(regular: boolean): Promise<void> {
    this.#due = null;
    if (this.isExchanging) return this.urgent();
    if (this.#host.isOffline) return this.schedule(this.intervals.pingMs, regular);
    this.isExchanging = true;
    try {
      if (regular) this.#host.beforeRegularExchange();
      this.#scheduleNext(await this.#context.transport.whenConnectionFree(() => this.#exchange()));
    } catch (error) {
      this.#context.statistics.failedExchanges++;
      this.#context.settings.logger.debug({ err: error }, 'exchange failed');
      this.#retry();
    } finally {
      this.isExchanging = false;
    }
  }

  #scheduleNext(next: NextExchange): void {
    if (next !== 'retry') this.#failures = 0;
    if (next === 'retry') this.#retry();
    else if (next === 'regular') this.schedule(this.intervals.exchangeMs, true);
    else if (next === 'urgent') this.urgent();
    else this.schedule(0);
  }

  /** Exponential backoff; real agents wait a minute. */
  #retry(): void {
    const { retryMs } = this.#context.settings.times;
    this.schedule(retryMs * Math.min(2 ** this.#failures++, MAX_BACKOFF));
  }

  async #exchange(): Promise<NextExchange> {
    const { incarnation, isEnrolled } = this.#host;
    const { headers, payload, sent } = this.#host.prepare();
    const body = encode(payload);
    const post = (): Promise<Reply> => this.#context.transport.post('message-system', body, headers);
    let reply = await post();
    if (isEnrolled && this.#occurs('duplicateSends')) reply = await post();
    // Before the response that makes the agent request ids, and not before its registration: computers get ids in order.
    await this.#host.downloadHashIds();
    if (incarnation !== this.#host.incarnation) throw new Error('the agent was restarted');
    if (reply.status !== 200) throw new Error(`the gateway responded with ${reply.status}`);
    if (isEnrolled && this.#occurs('lostResponses')) throw new Error('the response was lost');
    const next = this.#host.receive(decode(reply.body), sent);
    this.#context.statistics.exchanges++;
    return next;
  }

  #occurs(fault: EventFault): boolean {
    return faultOccurs(this.#host.options, fault, this.#context.random.next());
  }

  /** Replaces the ping that is scheduled. */
  #pingAfter(delayMs: number): void {
    this.#nextPing?.cancel();
    this.#nextPing = this.#context.wheel.after(delayMs, () => void this.#ping());
  }

  async #ping(): Promise<void> {
    this.#pingAfter(this.intervals.pingMs);
    const id = this.#host.computerId;
    if (id === null || this.#pinging || this.#host.isOffline) return;
    this.#pinging = true;
    try {
      const { transport, statistics } = this.#context;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { status, body } = await transport.whenConnectionFree(() =>
        transport.post('ping', `insecure_id=${id}`, headers),
      );
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
