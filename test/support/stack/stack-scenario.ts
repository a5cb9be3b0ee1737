import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Executions } from '../../../tools/harness/delivery-order.ts';
import { createStack, type TestStack } from '../../../tools/harness/stack.ts';
import { type ActivityBody, ApiClient } from '../../../tools/harness/stack-client.ts';
import { FleetBeside } from '../../../tools/harness/stack-fleet.ts';
import { logTransitions, violationsOf, waitUntilDrained } from '../../../tools/harness/stack-invariants.ts';

const EMAIL = 'admin@example.com';
const PASSWORD = 'Scenario-4711';
const SETTINGS = {
  FLOTILLA_ADMIN_PASSWORD: PASSWORD,
  FLOTILLA_SIMULATED_COMPUTERS: '0',
  // Several batches even for a few hundred computers.
  FLOTILLA_BATCH_MIN_SIZE: '60',
};

/** How many actions are given the chance to be half way when something is to go wrong with them. */
const TRIES = 3;

/** A running stack with computers beside it, one action at a time, and the checks that hold whatever happens to it. */
export class Scenario {
  readonly stack: TestStack;
  readonly fleet: FleetBeside;
  readonly api: ApiClient;
  /** All of them take snaps. */
  computers: number[] = [];
  readonly #size: number;

  private constructor(stack: TestStack, size: number) {
    this.#size = size;
    this.stack = stack;
    this.fleet = new FleetBeside(stack, size);
    this.api = new ApiClient(stack.url);
  }

  /** Starts a stack, with further settings, and enrols so many computers. */
  static async start(size: number, env: Record<string, string> = {}): Promise<Scenario> {
    const stack = await createStack({ ...SETTINGS, ...env });
    try {
      await stack.start();
      await logTransitions(stack);
      const scenario = new Scenario(stack, size);
      await scenario.api.login(EMAIL, PASSWORD);
      scenario.computers = (await scenario.fleet.start(60_000 + size * 200)).slice(0, size);
      expect(scenario.computers).toHaveLength(size);
      return scenario;
    } catch (error) {
      await stack.dispose();
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.fleet.stop();
    await this.stack.dispose();
  }

  /** How long an action may take that something went wrong with. */
  get limitMs(): number {
    return 60_000 + this.#size * 100;
  }

  /**
   * Starts the action on all computers and waits until a share of them is done and others are not. A machine that
   * stalled may end all of them between two looks: then another action takes its place.
   */
  async inTheMiddle(share = 0.15): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const group = await this.api.actOnSnaps(this.computers);
      const isThere = async (): Promise<boolean> => (await this.progress(group)).ended >= this.#size * share;
      await this.stack.waitUntil('the action to be half way', isThere, { everyMs: 30 });
      if ((await this.progress(group)).open > 0) return group;
      if (tries === TRIES) throw new Error(`${TRIES} actions were over before anything could go wrong with them`);
    }
  }

  async progress(group: number): Promise<{ open: number; ended: number }> {
    const [row] = await this.stack.rows<{ open: number; ended: number }>(
      `select count(*) filter (where completion_time is null)::int as open,
        count(completion_time)::int as ended from activity where parent_id = $1`,
      [group],
    );
    return row ?? { open: 0, ended: 0 };
  }

  /** Waits for the end of an action without helping it, then checks every invariant. */
  async expectSound(
    group: number,
    options: { computers?: number[]; executions?: () => Executions; limitMs?: number } = {},
  ): Promise<void> {
    await this.api.pollActivity(group, options.limitMs ?? this.limitMs);
    await waitUntilDrained(this.stack, group, 60_000);
    const executions = (options.executions ?? (() => this.fleet.executions()))();
    expect(await violationsOf(this.stack, group, options.computers ?? this.computers, executions)).toEqual([]);
    expect(this.fleet.violations).toEqual([]);
  }

  /** As {@link expectSound}; besides, every computer succeeded and the workflow reports it. */
  async expectSucceeded(group: number, limitMs = this.limitMs): Promise<void> {
    await this.expectSound(group, { limitMs });
    expect(await this.statuses(group)).toEqual({ succeeded: this.#size });
    const client = await this.stack.temporal();
    const description = await client.workflow.getHandle(`activity/${group}`).describe();
    expect(description.status.name).toBe('COMPLETED');
  }

  /** How many operations of a group have each stored status. */
  async statuses(group: number): Promise<Record<string, number>> {
    const rows = await this.stack.rows<{ status: string; n: number }>(
      'select status, count(*)::int as n from activity where parent_id = $1 group by status',
      [group],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }

  async untilReady(): Promise<void> {
    await this.stack.waitUntil('the stack to be ready', async () => (await this.stack.readiness()).status === 200);
  }

  /**
   * Reads the activity again and again while something happens.
   *
   * @returns every status received; 0 stands for a connection that was rejected or broke
   */
  async readingMeanwhile(group: number, work: () => Promise<void>): Promise<Set<number>> {
    const statuses = new Set<number>();
    let done = false;
    const read = async (): Promise<void> => {
      while (!done) {
        const response = await this.api.request<ActivityBody>('GET', `/activities/${group}`).catch(() => null);
        statuses.add(response?.status ?? 0);
        await sleep(100);
      }
    };
    const reading = read();
    try {
      await work();
    } finally {
      done = true;
      await reading;
    }
    return statuses;
  }
}
