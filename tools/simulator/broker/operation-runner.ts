import { type BObject, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import type { FleetContext } from '../fleet-context.ts';
import type { Machine } from '../inventory/machine.ts';
import { type Knobs, strikes } from '../knobs.ts';
import { failedOutcome, findOperation, unsupported } from '../operations/index.ts';
import { failed, type Outcome } from '../operations/operation.ts';
import type { PackageIds } from '../package-ids.ts';
import { createRandom } from '../random.ts';

/** What the runner leaves to the agent around it. */
export interface RunnerHost {
  readonly title: string;
  readonly machine: Machine;
  readonly knobs: Knobs;
  readonly computerId: number | null;
  readonly packageIds: PackageIds;
  /** The machine is off, or restarting. */
  readonly isDown: boolean;
  /** By the machine's own clock. */
  nowSeconds(): number;
  download(id: number): Promise<Buffer | null>;
  /** The agent's process ends and starts again. */
  die(): void;
  /** Queues what came of an operation and makes it durable. */
  finished(outcome: Outcome, generation: number): void;
  /** Grows with every resynchronization, which drops the results of what was running. */
  readonly generation: number;
}

/** An operation taken over and not finished. */
interface Task {
  message: BObject;
  /** Executions of it in the ledger when it was taken over: one more means that this one is recorded. */
  recorded: number;
  /** The agent's generation when it was taken over. */
  generation: number;
}

const SLOW_FACTOR = 10;
const DOWN_POLL_MS = 1000;

/**
 * Carries out operations one after another, in the order in which the server handed them over, each as often as it was
 * handed over: finished ones leave no memory.
 */
export class OperationRunner {
  readonly #context: FleetContext;
  readonly #host: RunnerHost;
  /** In the order of their hand-over; the first is being carried out. */
  readonly #tasks = new Map<number, Task>();

  constructor(context: FleetContext, host: RunnerHost) {
    this.#context = context;
    this.#host = host;
  }

  /** Operations taken over and not finished: executions recorded before, a colon, and the message in base64. */
  get unfinished(): string[] {
    return [...this.#tasks.values()].map(
      ({ message, recorded }) => `${recorded}:${encode(message).toString('base64')}`,
    );
  }

  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /**
   * Goes on with what an earlier process had taken over. What that one recorded and could not finish, because it was
   * killed in between, is finished here and not recorded again: all of its effects were lost with that process.
   */
  resume(record: readonly string[]): void {
    for (const text of record) {
      const colon = text.indexOf(':');
      const message = decode(Buffer.from(text.slice(colon + 1), 'base64'));
      if (isDict(message)) this.#add(message, Number(text.slice(0, colon)));
    }
  }

  /**
   * Takes an operation over.
   *
   * @returns false when the agent did not get to it: the same one has not ended, or the agent died over it
   */
  take(message: BObject): boolean {
    const { knobs } = this.#host;
    const id = Number(message['operation-id']);
    if (this.#tasks.has(id)) return false;
    const draw = (): number => this.#context.draws.next();
    if (strikes(knobs, 'dieBefore', draw())) {
      this.#host.die();
      return false;
    }
    if (strikes(knobs, 'dieAfter', draw())) {
      this.#executeInVain(message);
      this.#host.die();
      return false;
    }
    this.#add(message, this.#executions(message));
    return true;
  }

  #add(message: BObject, recorded: number): void {
    const task = { message, recorded, generation: this.#host.generation };
    this.#tasks.set(Number(message['operation-id']), task);
    if (this.#tasks.size === 1) this.#start(task);
  }

  #start(task: Task): void {
    const { settings, wheel } = this.#context;
    const usual = settings.times.operationMs * (0.5 + this.#context.draws.next());
    wheel.after(this.#host.knobs.slow ? usual * SLOW_FACTOR : usual, () => void this.#run(task));
  }

  async #run(task: Task): Promise<void> {
    const { wheel } = this.#context;
    if (this.#host.isDown) {
      wheel.after(DOWN_POLL_MS, () => void this.#run(task));
      return;
    }
    const outcome = await this.#execute(task.message);
    const finish = (): void => this.#finish(task, outcome);
    if (outcome.extraMs) wheel.after(outcome.extraMs, finish);
    else finish();
  }

  #finish(task: Task, outcome: Outcome): void {
    if (this.#context.isClosed) return;
    if (this.#host.isDown) {
      this.#context.wheel.after(DOWN_POLL_MS, () => this.#finish(task, outcome));
      return;
    }
    const { message, recorded, generation } = task;
    if (this.#executions(message) === recorded) this.#record(message);
    this.#tasks.delete(Number(message['operation-id']));
    this.#host.finished(outcome, generation);
    const [next] = this.#tasks.values();
    if (next) this.#start(next);
  }

  async #execute(message: BObject): Promise<Outcome> {
    const { machine, knobs, packageIds } = this.#host;
    const { settings } = this.#context;
    const random = createRandom(settings.seed, 'operation', machine.blueprint.index, Number(message['operation-id']));
    const operation = findOperation(String(message['type']), machine.blueprint) ?? unsupported;
    if (operation !== unsupported && strikes(knobs, 'failing', random.next())) return failedOutcome(message);
    const nowSeconds = this.#host.nowSeconds();
    const { auditRules } = settings;
    const download = (id: number) => this.#host.download(id);
    const workplace = { machine, random, packageIds, nowSeconds, auditRules, download };
    try {
      return await operation(message, workplace);
    } catch (error) {
      settings.logger.error({ err: error, operationId: Number(message['operation-id']) }, 'operation raised');
      return { results: [failed(message, `${error}`)] };
    }
  }

  /** The agent gets as far as doing the work, and no further. */
  #executeInVain(message: BObject): void {
    this.#record(message);
    void this.#execute(message);
  }

  #executions(message: BObject): number {
    return this.#context.ledger.count(this.#host.title, Number(message['operation-id']));
  }

  #record(message: BObject): void {
    const { title: computer, computerId } = this.#host;
    const [operationId, type] = [Number(message['operation-id']), String(message['type'])];
    this.#context.ledger.record({ computer, computerId, operationId, type });
  }
}
