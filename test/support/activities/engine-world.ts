import { rollUp } from '../../../src/domain/engine/roll-up.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Persistence } from '../../../src/persistence/orm/orm.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { aGroup, anAccount, childrenOf, ONE_BATCH, type PendingEvent, TestClock } from './activity-rows.ts';

/** Batches on a database of their own, on a clock that only the test moves. */
export class EngineWorld {
  readonly db: Database;
  clock = new TestClock();
  engine: Engine;
  readonly persistence: Persistence;
  readonly #database: TestDatabase;

  private constructor(database: TestDatabase) {
    this.#database = database;
    this.persistence = database.persistence;
    this.db = database.persistence.db;
    this.engine = this.engineWith(30);
  }

  static async create(): Promise<EngineWorld> {
    return new EngineWorld(await createTestDatabase());
  }

  close(): Promise<void> {
    return this.#database.drop();
  }

  /** To be called before each test: the clock stands where it started. */
  reset(): void {
    this.clock = new TestClock();
    this.engine = this.engineWith(30);
  }

  engineWith(expiryDays: number, databases: Partial<Persistence> = {}): Engine {
    return createEngine({ ...this.persistence, ...databases, clock: this.clock, settings: { expiryDays } });
  }

  /** A group whose operations are all in one batch, not opened yet. */
  async oneBatch(plan: Parameters<typeof aGroup>[2] = {}, options: Parameters<typeof anAccount>[1] = {}) {
    const account = await anAccount(this.db, options);
    const group = await aGroup(this.db, account, { now: this.clock.now(), settings: ONE_BATCH, ...plan });
    const children = await childrenOf(this.db, group);
    return { account, group, batch: children[0]!.lane_id, ids: children.map(({ id }) => id) };
  }

  /** Of the operations of a group, in order. */
  async statuses(group: number): Promise<string[]> {
    return (await childrenOf(this.db, group)).map(({ status }) => status);
  }

  /** How the messages of a group's operations stand, in order. */
  async messages(group: number): Promise<Array<string | null>> {
    return (await childrenOf(this.db, group)).map(({ message }) => message);
  }
}

export interface ModelOperation {
  id: number;
  computerId: number;
  status: string;
  blockedBy: number | null;
  message: 'queued' | 'sent' | 'withdrawn' | 'dropped' | null;
  deliverAtMs: number;
  deliveredAtMs: number | null;
  endedAtMs: number | null;
}

const FINAL = ['succeeded', 'failed', 'canceled'];

/** What `processPendingEvents` must do, written for reading: one batch in memory, one event after the other. */
export class EngineModel {
  readonly operations: Map<number, ModelOperation>;
  inbox: PendingEvent[] = [];
  readonly #expiryMs: number;
  readonly #delayMs: number;
  /** When the wait for results started. */
  readonly #waitedFromMs = new Map<number, number>();
  #opened = false;

  constructor(operations: readonly ModelOperation[], options: { expiryMs: number; delayMs: number }) {
    this.operations = new Map(operations.map((operation) => [operation.id, { ...operation }]));
    this.#expiryMs = options.expiryMs;
    this.#delayMs = options.delayMs;
  }

  processPendingEvents(nowMs: number, cancelAll: boolean): void {
    const pendingEvents = this.inbox;
    this.inbox = [];
    const succeeded = this.#applyDecisive(pendingEvents, nowMs);
    const failed = [...this.#idsEnded(pendingEvents, 'failed'), ...this.#expire(nowMs)];
    const cancels = pendingEvents.filter(({ kind }) => kind === 'cancel').map(({ activity }) => activity);
    const canceled = cancelAll || cancels.includes(null) ? [...this.operations.keys()] : (cancels as number[]);
    for (const id of canceled) this.#cancelNamed(id, nowMs);
    for (const id of failed) this.#cancelDependents(id, nowMs);
    for (const id of succeeded) this.#release(id, nowMs);
    if (!this.#opened) for (const operation of this.operations.values()) this.#queue(operation);
    this.#opened = true;
  }

  /** The agent of a computer enrols anew: what its old identity had or was to get can never have a result. */
  reregister(computerId: number, at: Date): void {
    for (const operation of this.operations.values()) {
      const { id, status, message } = operation;
      if (operation.computerId !== computerId || !['undelivered', 'delivered'].includes(status)) continue;
      if (message !== 'queued' && message !== 'sent') continue;
      operation.message = 'dropped';
      this.inbox.push({ batch: 0, activity: id, kind: 'gone', at });
    }
  }

  counts() {
    const of = (...statuses: string[]) =>
      [...this.operations.values()].filter((o) => statuses.includes(o.status)).length;
    const counts = {
      open: this.operations.size - of(...FINAL),
      delivered: of('delivered'),
      succeeded: of('succeeded'),
      failed: of('failed'),
      canceled: of('canceled'),
    };
    const wasDelivered = [...this.operations.values()].some(({ deliveredAtMs }) => deliveredAtMs !== null);
    return { ...counts, status: rollUp(counts, wasDelivered) };
  }

  /** The decisive event of each operation: its first result, else its first `gone`, else that it was delivered. */
  #applyDecisive(pendingEvents: readonly PendingEvent[], nowMs: number): number[] {
    const succeeded: number[] = [];
    for (const operation of this.operations.values()) {
      const own = pendingEvents.filter(({ activity }) => activity === operation.id);
      const delivered = own.find(({ kind }) => kind === 'delivered');
      const decisive = own.find((n) => n.kind === 'result') ?? own.find((n) => n.kind === 'gone') ?? delivered;
      if (!decisive) continue;
      const from = operation.status;
      if (decisive.kind === 'delivered') {
        if (from === 'undelivered') {
          operation.status = 'delivered';
          this.#waitedFromMs.set(operation.id, Math.max(decisive.at.getTime(), nowMs));
        }
        if (from === 'undelivered' || from === 'canceled') operation.deliveredAtMs ??= decisive.at.getTime();
        continue;
      }
      const takes =
        decisive.kind === 'result' ? ['undelivered', 'delivered', 'canceled'] : ['undelivered', 'delivered'];
      if (!takes.includes(from)) continue;
      operation.status = decisive.kind === 'result' && decisive.ok ? 'succeeded' : 'failed';
      operation.deliveredAtMs ??=
        delivered?.at.getTime() ?? (decisive.kind === 'result' ? decisive.at.getTime() : null);
      operation.endedAtMs = decisive.at.getTime();
      if (operation.status === 'succeeded') succeeded.push(operation.id);
    }
    return succeeded;
  }

  #idsEnded(pendingEvents: readonly PendingEvent[], status: string): number[] {
    const reported = new Set(pendingEvents.map(({ activity }) => activity));
    return [...this.operations.values()].filter((o) => o.status === status && reported.has(o.id)).map(({ id }) => id);
  }

  #expire(nowMs: number): number[] {
    const overdue = [...this.operations.values()].filter(
      ({ id, status }) => status === 'delivered' && this.#waitedFromMs.get(id)! <= nowMs - this.#expiryMs,
    );
    for (const operation of overdue) Object.assign(operation, { status: 'failed', endedAtMs: nowMs });
    return overdue.map(({ id }) => id);
  }

  #isOpen(id: number): boolean {
    const operation = this.operations.get(id);
    return operation !== undefined && !FINAL.includes(operation.status);
  }

  /** What its cancel was accepted for, though its success may have been on its way: the following steps end in any case. */
  #cancelNamed(id: number, nowMs: number): void {
    if (this.#isOpen(id)) this.#cancel(id, nowMs);
    else this.#cancelDependents(id, nowMs);
  }

  #cancel(id: number, nowMs: number): void {
    const operation = this.operations.get(id)!;
    operation.status = 'canceled';
    operation.endedAtMs = nowMs;
    if (operation.message === 'queued') operation.message = 'withdrawn';
    this.#cancelDependents(id, nowMs);
  }

  #cancelDependents(id: number, nowMs: number): void {
    for (const next of this.operations.values()) {
      if (next.blockedBy === id && next.status === 'waiting') this.#cancel(next.id, nowMs);
    }
  }

  #release(id: number, nowMs: number): void {
    for (const next of this.operations.values()) {
      if (next.blockedBy !== id || next.status !== 'waiting') continue;
      next.status = 'undelivered';
      next.deliverAtMs = nowMs + this.#delayMs;
      this.#queue(next);
    }
  }

  #queue(operation: ModelOperation): void {
    if (operation.status === 'undelivered') operation.message ??= 'queued';
  }
}
