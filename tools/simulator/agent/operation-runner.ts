import { type BObject, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import { type ComputerOptions, faultOccurs } from '../computer-options.ts';
import type { FleetContext } from '../fleet-context.ts';
import type { Machine } from '../inventory/machine.ts';
import { failedOutcome, findOperation, unsupported } from '../operations/index.ts';
import { failed, type Outcome } from '../operations/operation.ts';
import type { PackageIds } from '../package-ids.ts';
import { createRandom } from '../random.ts';

export interface RunnerHost {
  readonly title: string;
  readonly machine: Machine;
  readonly options: ComputerOptions;
  readonly computerId: number | null;
  readonly packageIds: PackageIds;
  readonly isDown: boolean;
  /** By the machine's clock. */
  nowSeconds(): number;
  download(id: number): Promise<Buffer | null>;
  /** Ends the agent's process and starts it again. */
  crash(): void;
  /** Queues the results of an operation and stores them. */
  finished(outcome: Outcome, generation: number): void;
  /** Incremented by every resynchronization, which drops the results of running operations. */
  readonly generation: number;
}

interface Task {
  message: BObject;
  /** The computer's id when it was accepted; it has another one if it was removed and enrolled again meanwhile. */
  computerId: number | null;
  /** Recorded executions when it was accepted: one more means that this one is recorded. */
  recorded: number;
  /** The agent's generation when it was accepted. */
  generation: number;
}

const SLOW_FACTOR = 10;
const DOWN_POLL_MS = 1000;

/**
 * Runs operations one after another in the order in which they came. Like a real agent it does not remember finished
 * ones: an operation that comes again runs again.
 */
export class OperationRunner {
  readonly #context: FleetContext;
  readonly #host: RunnerHost;
  /** In the order in which they came; the first one is running. */
  readonly #tasks = new Map<number, Task>();

  constructor(context: FleetContext, host: RunnerHost) {
    this.#context = context;
    this.#host = host;
  }

  /** Accepted operations that have not finished: recorded executions, a colon, and the message in base64. */
  get unfinished(): string[] {
    return [...this.#tasks.values()].map(
      ({ message, recorded }) => `${recorded}:${encode(message).toString('base64')}`,
    );
  }

  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /**
   * Continues the operations of an earlier process. One that was recorded before the process was killed is not recorded
   * again, because its effects were lost with that process.
   */
  resume(record: readonly string[]): void {
    for (const text of record) {
      const colon = text.indexOf(':');
      const message = decode(Buffer.from(text.slice(colon + 1), 'base64'));
      if (isDict(message)) this.#add(message, Number(text.slice(0, colon)));
    }
  }

  /** @returns false if the agent did not accept it: the same one is still running, or the agent crashed */
  accept(message: BObject): boolean {
    const { options } = this.#host;
    const id = Number(message['operation-id']);
    if (this.#tasks.has(id)) return false;
    const draw = (): number => this.#context.random.next();
    if (faultOccurs(options, 'dieBefore', draw())) {
      this.#host.crash();
      return false;
    }
    if (faultOccurs(options, 'dieAfter', draw())) {
      this.#executeWithoutResult(message);
      this.#host.crash();
      return false;
    }
    this.#add(message, this.#executions(message));
    return true;
  }

  #add(message: BObject, recorded: number): void {
    const { computerId, generation } = this.#host;
    const task = { message, computerId, recorded, generation };
    this.#tasks.set(Number(message['operation-id']), task);
    if (this.#tasks.size === 1) this.#start(task);
  }

  #start(task: Task): void {
    const { settings, wheel } = this.#context;
    const usual = settings.times.operationMs * (0.5 + this.#context.random.next());
    wheel.after(this.#host.options.slow ? usual * SLOW_FACTOR : usual, () => void this.#run(task));
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
    const { message, computerId, recorded, generation } = task;
    if (this.#executions(message) === recorded) this.#record(message, computerId);
    this.#tasks.delete(Number(message['operation-id']));
    this.#host.finished(outcome, generation);
    const [next] = this.#tasks.values();
    if (next) this.#start(next);
  }

  async #execute(message: BObject): Promise<Outcome> {
    const { machine, options, packageIds } = this.#host;
    const { settings } = this.#context;
    const random = createRandom(settings.seed, 'operation', machine.blueprint.index, Number(message['operation-id']));
    const operation = findOperation(String(message['type']), machine.blueprint) ?? unsupported;
    if (operation !== unsupported && faultOccurs(options, 'failing', random.next())) return failedOutcome(message);
    const nowSeconds = this.#host.nowSeconds();
    const { auditRules } = settings;
    const download = (id: number) => this.#host.download(id);
    const context = { machine, random, packageIds, nowSeconds, auditRules, download };
    try {
      return await operation(message, context);
    } catch (error) {
      settings.logger.error(
        { err: error, operationId: Number(message['operation-id']) },
        'operation failed with an exception',
      );
      return { results: [failed(message, `${error}`)] };
    }
  }

  #executeWithoutResult(message: BObject): void {
    this.#record(message, this.#host.computerId);
    void this.#execute(message);
  }

  #executions(message: BObject): number {
    return this.#context.executionLog.count(this.#host.title, Number(message['operation-id']));
  }

  #record(message: BObject, computerId: number | null): void {
    const computer = this.#host.title;
    const [operationId, type] = [Number(message['operation-id']), String(message['type'])];
    this.#context.executionLog.record({ computer, computerId, operationId, type });
  }
}
