import { expect } from 'vitest';
import type { Strike } from '../inside/fault-commands.ts';
import { type FailPoint, processOf } from '../inside/points.ts';
import { type Observation, observe } from '../run/seed.ts';
import { Session } from '../workload/session.ts';
import type { FaultWorld } from '../world/world.ts';

/** Maximum delay of work after a server is back. @see docs/reliability.md#temporal-is-unavailable */
const LATENESS_MS = 30_000;

/** A row of the fault matrix on a running stack. */
export interface RowCase {
  row: number;
  title: string;
  /** Skipped in the short form, which is part of every test run. */
  longOnly?: boolean;
  run(stage: Stage): Promise<void>;
}

/** Shared by the cases: an idle world and the checks. */
export class Stage {
  readonly world: FaultWorld;
  /** The long form repeats more and waits longer. */
  readonly isLong: boolean;
  #sessions = 0;

  constructor(world: FaultWorld, isLong: boolean) {
    this.world = world;
    this.isLong = isLong;
  }

  /** Runs `work`, ends all faults, waits until the world is idle and expects every invariant to hold. */
  async sound(work: (session: Session) => Promise<void>): Promise<Observation & { session: Session }> {
    this.#sessions += 1;
    const session = new Session(this.world, 900_000 + this.#sessions);
    const observation = await observe(session, () => work(session));
    expect(observation.violations).toEqual([]);
    return { ...observation, session };
  }

  get all(): number[] {
    return this.world.main.computers.takingSnaps();
  }

  /** Installs a snap on all or some computers. @returns the group, null without a 2xx response */
  install(session: Session, computers: readonly number[] = this.all): Promise<number | null> {
    const body = { action: 'install', computer_ids: computers, snaps: [{ name: 'hello' }] };
    return session.act(this.world.main, '/snaps', body, computers);
  }

  /** As {@link install}. @throws without a 2xx response */
  async mustInstall(session: Session, computers?: readonly number[]): Promise<number> {
    const group = await this.install(session, computers);
    expect(group).not.toBeNull();
    return group!;
  }

  async enable(point: FailPoint, strike: Strike, skip = 0): Promise<void> {
    const role = processOf(point);
    if ('kill' in strike) await this.world.restartAtLimit(role);
    const send = async (): Promise<boolean> =>
      (await this.world.processes.send(role, { do: 'enable', point, strike, skip })) > 0;
    await this.world.stack.waitUntil(`a process of ${role} to enable the fail point`, send);
    if ('kill' in strike) this.world.died(role);
  }

  /** Waits until a fail point struck once more than before. */
  async waitUntilStruck(point: FailPoint, before: number): Promise<void> {
    await this.world.stack.waitUntil(`${point} to strike`, () => this.strikes(point) > before, { limitMs: 120_000 });
  }

  strikes(point: FailPoint): number {
    return this.world.processes.struck().filter((line) => line.endsWith(` ${point}`)).length;
  }

  /** Ids of groups and single activities created after another one. */
  async groupsAfter(id: number): Promise<number[]> {
    const rows = await this.world.stack.rows<{ id: number }>(
      'select id from activity where parent_id is null and id > $1 order by id',
      [id],
    );
    return rows.map((row) => row.id);
  }

  async lastActivity(): Promise<number> {
    const [row] = await this.world.stack.rows<{ id: number }>('select coalesce(max(id), 0)::int as id from activity');
    return row!.id;
  }

  async statuses(group: number): Promise<Record<string, number>> {
    const rows = await this.world.stack.rows<{ status: string; n: number }>(
      'select status, count(*)::int as n from activity where parent_id = $1 group by status',
      [group],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }

  /** Waits until so many operations of a group are delivered. */
  async waitUntilDelivered(group: number, count = 1): Promise<void> {
    const isThere = async (): Promise<boolean> => (await this.#delivered(group)) >= count;
    await this.world.stack.waitUntil('deliveries', isThere, { everyMs: 20 });
  }

  /** Waits until operations of each group are delivered. @throws when that takes too long after the server is back */
  async waitUntilUnderWay(groups: readonly number[]): Promise<void> {
    const are = async (): Promise<boolean> => {
      const delivered = await Promise.all(groups.map((group) => this.#delivered(group)));
      return delivered.every((count) => count > 0);
    };
    await this.world.stack.waitUntil('every group to be under way', are, { limitMs: LATENESS_MS });
  }

  async #delivered(group: number): Promise<number> {
    const [row] = await this.world.stack.rows<{ n: number }>(
      `select count(*)::int as n from agent_message m join activity a on a.id = m.activity_id
        where a.parent_id = $1 and m.state in ('sent', 'acked')`,
      [group],
    );
    return row!.n;
  }
}
