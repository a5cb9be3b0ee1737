import { join } from 'node:path';
import { createLogger } from '../../../src/process/logger.ts';
import type { Executions } from '../../../tools/harness/delivery-order.ts';
import type { TestStack } from '../../../tools/harness/stack.ts';
import { createStack } from '../../../tools/harness/stack.ts';
import { ApiClient } from '../../../tools/harness/stack-client.ts';
import { readExecutions } from '../../../tools/harness/stack-fleet.ts';
import { logTransitions } from '../../../tools/harness/stack-invariants.ts';
import { createFleet, type Fleet, type SimulatedComputer } from '../../../tools/simulator/fleet.ts';
import { processesOf } from '../../../tools/simulator/inventory/processes.ts';
import { AgentChannel } from './agent-channel.ts';

const PASSWORD = 'Channel-4711';
const TIMES = {
  pingMs: 700,
  urgentMs: 150,
  exchangeMs: 2000,
  operationMs: 250,
  rebootMs: 400,
  retryMs: 120,
  rampMs: 500,
};
const TEN_YEARS = 10 * 365 * 86_400;
const HOUR = 3600;

/** A stack whose computers reach it over a channel. */
export class ChannelWorld {
  readonly stack: TestStack;
  readonly api: ApiClient;
  readonly channel: AgentChannel;
  readonly fleet: Fleet;
  readonly #clocks: NodeJS.Timeout;

  private constructor(stack: TestStack, channel: AgentChannel, computers: number) {
    this.stack = stack;
    this.api = new ApiClient(stack.url);
    this.channel = channel;
    this.fleet = createFleet({
      computers,
      url: channel.url,
      logger: createLogger({ level: 'silent', role: 'fleet' }),
      executionLogFile: this.#executionLogFile,
      times: TIMES,
      tickMs: 20,
    });
    // Before the first registration: its time distinguishes it from later ones.
    this.#turnClocks();
    this.#clocks = setInterval(() => this.#turnClocks(), 400);
  }

  /** Starts a stack and a channel to it, but no computers. */
  static async start(computers: number): Promise<ChannelWorld> {
    const stack = await createStack({ FLOTILLA_ADMIN_PASSWORD: PASSWORD, FLOTILLA_SIMULATED_COMPUTERS: '0' });
    try {
      await stack.start();
      await logTransitions(stack);
      const world = new ChannelWorld(stack, await AgentChannel.open(stack.url), computers);
      await world.api.login('admin@example.com', PASSWORD);
      return world;
    } catch (error) {
      await stack.dispose();
      throw error;
    }
  }

  async end(): Promise<void> {
    clearInterval(this.#clocks);
    await this.fleet.stop();
    await this.channel.close();
    await this.stack.dispose();
  }

  executions(): Executions {
    return readExecutions(this.#executionLogFile);
  }

  /** Computers with snaps and packages. */
  get able(): SimulatedComputer[] {
    return this.fleet.computers.filter(({ machine }) => machine.blueprint.catalogue !== null);
  }

  /**
   * Differences between the server's rows and the computers; empty once everything has been reported.
   *
   * @param returned - computers that enrolled again: agents report their snaps only when these change
   * @see docs/reliability.md#the-network-between-agents-and-server
   */
  async differences(returned: ReadonlySet<string>): Promise<string[]> {
    const found: string[] = [];
    const rows = await this.stack.rows<StoredComputer>(STORED);
    const stored = new Map(rows.map((row) => [row.id, row]));
    if (rows.length !== this.fleet.computers.length) found.push(`${rows.length} computers are stored`);
    for (const computer of this.fleet.computers) {
      const row = stored.get(computer.computerId ?? 0);
      if (!row) found.push(`${computer.title} is stored nowhere`);
      else found.push(...differencesOf(row, computer, returned.has(computer.title)));
    }
    return found;
  }

  /** What has not ended, and what its computer does, for the message of a failed test. */
  async openOperations(): Promise<string> {
    const rows = await this.stack.rows<{ computer_id: number }>(OPEN_OPERATIONS);
    return JSON.stringify(
      rows.map((row) => {
        const computer = this.fleet.computers.find(({ computerId }) => computerId === row.computer_id);
        const { title, isDown, isSettled } = computer ?? {};
        return { ...row, title, isDown, isSettled };
      }),
    );
  }

  get #executionLogFile(): string {
    return join(this.stack.root, 'beside', 'channel-execution-log.jsonl');
  }

  /** Its clock jumps once it is enrolled, so it must not register again: see {@link #turnClocks}. */
  get jumping(): SimulatedComputer {
    return this.fleet.computers[2]!;
  }

  /**
   * Two clocks are wrong by years, one jumps back and forth by an hour. It does not jump during registration, because
   * only its time distinguishes a late registration from a new one.
   */
  #turnClocks(): void {
    const [ahead, behind] = this.fleet.computers;
    const { jumping } = this;
    if (!ahead || !behind) return;
    ahead.options.clockAhead = TEN_YEARS;
    behind.options.clockAhead = -TEN_YEARS;
    if (jumping.isEnrolled) jumping.options.clockAhead = jumping.options.clockAhead > 0 ? -HOUR : HOUR;
  }
}

interface StoredComputer {
  [column: string]: unknown;
  id: number;
  title: string;
  state: string;
  clone_id: number | null;
  hostname: string;
  total_memory: number | null;
  reboot: boolean | null;
  snaps: string[];
  addresses: string[];
  pids: number[];
  packages: string[];
}

const STORED = `
  select c.id, c.title, c.state, c.clone_id, c.hostname, c.total_memory, c.reboot_required as reboot,
    array(select s.name || ' ' || s.version || ' ' || coalesce(s.held_until, '-') from computer_snap s
      where s.computer_id = c.id order by 1) as snaps,
    array(select n.mac_address || ' ' || n.ip_address from computer_network n
      where n.computer_id = c.id and n.active order by 1) as addresses,
    array(select p.pid from computer_process p where p.computer_id = c.id order by 1) as pids,
    array(select p.name || ' ' || p.version from computer_packages i, package p
      where i.computer_id = c.id and p.id <@ i.installed order by 1) as packages
  from computer c where not c.archived`;

const OPEN_OPERATIONS = `
  select a.id, a.parent_id, a.type, a.status, a.computer_id, c.state, c.archived
  from activity a left join computer c on c.id = a.computer_id
  where a.computer_id is not null and a.status not in ('succeeded', 'failed', 'canceled') order by a.id limit 20`;

function differencesOf(row: StoredComputer, { title, machine }: SimulatedComputer, returned: boolean): string[] {
  const { blueprint } = machine;
  const catalogue = blueprint.catalogue;
  const held: Record<string, unknown> = {
    title,
    state: 'approved',
    clone_id: null,
    hostname: blueprint.hostname,
    total_memory: blueprint.memoryMib,
    reboot: machine.rebootPackages.length > 0,
    snaps: catalogue ? machine.snaps.map((snap) => `${snap.name} ${snap.version} ${snap.hold ?? '-'}`) : [],
    addresses: blueprint.network.filter(({ flags }) => flags % 2 === 1).map((card) => `${card.mac} ${card.address}`),
    pids: processesOf(machine, blueprint).map(({ pid }) => pid),
    packages: catalogue
      ? machine.installed.map((index) => `${catalogue.packages[index]!.name} ${catalogue.packages[index]!.version}`)
      : [],
  };
  const plain = (value: unknown): string =>
    JSON.stringify(Array.isArray(value) ? value.map(String).toSorted() : (value ?? null));
  return Object.keys(held)
    .filter((name) => plain(held[name]) !== plain(row[name]))
    .filter((name) => !(returned && name === 'snaps' && row.snaps.length === 0))
    .map((name) => `${title}: ${name} is ${plain(held[name])} and stored is ${plain(row[name])}`.slice(0, 600));
}
