import { Agent } from './agent/agent.ts';
import { type ComputerOptions, type FaultShares, NO_FAULTS } from './computer-options.ts';
import { type ExecutionLog, openExecutionLog } from './execution-log.ts';
import type { FleetContext, FleetStatistics } from './fleet-context.ts';
import { HashIdFiles } from './hash-ids.ts';
import type { Machine } from './inventory/machine.ts';
import { PackageIdRegistry } from './package-ids.ts';
import { createRandom } from './random.ts';
import { DEFAULT_AUDIT_RULES, defaultTimes, type FleetSettings, type FleetTimes } from './settings.ts';
import { type AgentRecord, openStateFile } from './state-file.ts';
import { createTimerWheel } from './timer-wheel.ts';
import { createTransport } from './transport.ts';

/** Everything but the first three has a default. */
export interface FleetOptions
  extends Pick<FleetSettings, 'computers' | 'url' | 'logger'>,
    Partial<Omit<FleetSettings, 'computers' | 'url' | 'logger' | 'times' | 'shares'>> {
  times?: Partial<FleetTimes>;
  shares?: Partial<FaultShares>;
}

/** A simulated computer as tests see it. */
export interface SimulatedComputer {
  readonly index: number;
  readonly title: string;
  /** Id at the server; null before it enrolled. */
  readonly computerId: number | null;
  readonly options: ComputerOptions;
  readonly machine: Machine;
  readonly isEnrolled: boolean;
  readonly isDown: boolean;
  /** Approved, its inventory reported, nothing left to do or to send. */
  readonly isSettled: boolean;
  exchangeSoon(): void;
  powerOn(): void;
}

/** Many simulated agents in one process. */
export interface Fleet {
  readonly computers: readonly SimulatedComputer[];
  readonly executionLog: ExecutionLog;
  readonly statistics: Readonly<FleetStatistics>;
  /** What the server did that breaks real agents, with counts; empty for a correct server. */
  readonly violations: ReadonlyMap<string, number>;
  /** Resolves when the gateway responds; enrolment follows. */
  start(): Promise<void>;
  /** Resolves when every computer is settled. @throws after the time limit */
  settled(limitMs: number): Promise<void>;
  /** Ends all exchanges and writes the state. Idempotent. */
  stop(): Promise<void>;
}

const GATEWAY_POLL_MS = 1000;
const GATEWAY_POLLS_PER_LOG = 30;
const SETTLED_POLL_MS = 100;
const MAINTENANCE_MS = 30_000;
const DRAIN_MS = 1000;

/**
 * Makes a fleet of simulated computers whose agents speak the real protocol over HTTP.
 * @throws if the state file belongs to a fleet of another seed
 * @remarks Like a real agent, a killed agent loses facts, which it reports again, and the batch it kept for a server
 * that steps back. Identity, counters, results and accepted operations survive. A recovery key does not: its result
 * becomes a failure.
 */
export function createFleet(options: FleetOptions): Fleet {
  const settings = settingsOf(options);
  const context = createContext(settings);
  const agents = Array.from(
    { length: settings.computers },
    (_, index) => new Agent(context, index, context.state.agents.get(index)),
  );
  return new RunningFleet(context, agents);
}

function settingsOf(options: FleetOptions): FleetSettings {
  return {
    account: 'standalone',
    registrationKey: null,
    seed: 1,
    stateFile: null,
    executionLogFile: null,
    connections: 64,
    auditRules: DEFAULT_AUDIT_RULES,
    tickMs: 50,
    ...withoutUndefined(options),
    times: { ...defaultTimes(options.computers), ...withoutUndefined(options.times ?? {}) },
    shares: { ...NO_FAULTS, ...options.shares },
  };
}

function withoutUndefined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

interface RunningContext extends FleetContext {
  readonly violations: Map<string, number>;
  isClosed: boolean;
}

function createContext(settings: FleetSettings): RunningContext {
  const { seed, logger } = settings;
  const fresh = { seed, epoch: Math.floor(Date.now() / 1000), packageIds: {} };
  const state = openStateFile(settings.stateFile, fresh);
  const registry = new PackageIdRegistry();
  registry.restore(state.fleet.packageIds);
  const violations = new Map<string, number>();
  const rejections = new Set<string>();
  return {
    settings,
    epoch: state.fleet.epoch,
    wheel: createTimerWheel(settings.tickMs),
    transport: createTransport(settings.url, settings.connections),
    executionLog: openExecutionLog(settings.executionLogFile),
    registry,
    hashIdFiles: new HashIdFiles(),
    state,
    statistics: { exchanges: 0, failedExchanges: 0, pings: 0, failedPings: 0 },
    random: createRandom(seed, 'events', Date.now()),
    isClosed: false,
    violations,
    registrationRejected(reason) {
      if (!rejections.has(reason))
        logger.warn({ reason, account: settings.account }, 'registration rejected; will retry');
      rejections.add(reason);
    },
    violation(text) {
      const count = (violations.get(text) ?? 0) + 1;
      violations.set(text, count);
      if (count === 1) logger.warn({ violation: text }, 'the server violated the protocol');
    },
  };
}

class RunningFleet implements Fleet {
  readonly computers: readonly Agent[];
  readonly #context: RunningContext;
  #stopped: Promise<void> | null = null;

  constructor(context: RunningContext, agents: readonly Agent[]) {
    this.#context = context;
    this.computers = agents;
  }

  get executionLog(): ExecutionLog {
    return this.#context.executionLog;
  }

  get statistics(): FleetStatistics {
    return this.#context.statistics;
  }

  get violations(): ReadonlyMap<string, number> {
    return this.#context.violations;
  }

  async start(): Promise<void> {
    await this.#waitForGateway();
    if (this.#stopped) return;
    const { rampMs } = this.#context.settings.times;
    for (const agent of this.computers) agent.start((rampMs * agent.index) / this.computers.length);
    this.#scheduleMaintenance();
  }

  async settled(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs;
    for (;;) {
      const open = this.computers.filter((computer) => !computer.isSettled);
      if (open.length === 0) return;
      if (performance.now() > end) {
        const some = open.slice(0, 5).map((computer) => computer.title);
        throw new Error(`${open.length} computers are not settled after ${limitMs} ms: ${some.join(', ')}`);
      }
      await pause(SETTLED_POLL_MS);
    }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<void> {
    const { wheel, transport, executionLog, state } = this.#context;
    wheel.stop();
    const end = performance.now() + DRAIN_MS;
    while (this.computers.some((agent) => agent.isExchanging) && performance.now() < end) await pause(20);
    this.#context.isClosed = true;
    transport.close();
    this.#savePackageIds();
    state.close(this.#records());
    executionLog.close();
  }

  async #waitForGateway(): Promise<void> {
    const { transport, settings } = this.#context;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (let tries = 1; !this.#stopped; tries++) {
      const status = await transport.post('ping', 'insecure_id=0', headers).then(
        (reply) => reply.status,
        () => null,
      );
      if (status === 200) return;
      if (tries % GATEWAY_POLLS_PER_LOG === 1) {
        settings.logger.info({ url: settings.url, status }, 'waiting for the gateway');
      }
      await pause(GATEWAY_POLL_MS);
    }
  }

  #scheduleMaintenance(): void {
    const { state, wheel } = this.#context;
    wheel.after(MAINTENANCE_MS, () => {
      this.#savePackageIds();
      if (state.isBloated) state.compact(this.#records());
      this.#scheduleMaintenance();
    });
  }

  #savePackageIds(): void {
    const { registry, state } = this.#context;
    if (!registry.isDirty) return;
    registry.isDirty = false;
    state.saveFleet({ packageIds: registry.toJSON() });
  }

  *#records(): Generator<readonly [number, AgentRecord]> {
    for (const agent of this.computers) yield [agent.index, agent.record];
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
