import type { Logger } from '../../src/process/logger.ts';
import { Agent } from './agent.ts';
import type { FleetContext, FleetStatistics } from './fleet-context.ts';
import type { Machine } from './inventory/machine.ts';
import { type FaultShares, type Knobs, NO_FAULTS } from './knobs.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { PackageIdRegistry } from './package-ids.ts';
import { createRandom } from './random.ts';
import { DEFAULT_AUDIT_RULES, defaultTimes, type FleetSettings, type FleetTimes } from './settings.ts';
import { type AgentRecord, openStateFile } from './state-file.ts';
import { createTimerWheel } from './timer-wheel.ts';
import { createTransport } from './transport.ts';

/** What a fleet is made from; everything but the first three has a default. */
export interface FleetOptions {
  computers: number;
  /** Base URL of the gateway, before `/message-system` and `/ping`. */
  url: string;
  logger: Logger;
  /** Default `standalone`. */
  account?: string;
  /** Default none. */
  registrationKey?: string | null;
  /** Default 1. */
  seed?: number;
  /** Where identities and counters are kept; default nowhere. */
  stateFile?: string | null;
  /** Where executions are counted; default in memory alone. */
  ledgerFile?: string | null;
  /** Default 64. */
  connections?: number;
  /** Milliseconds; defaults depend on the size of the fleet. */
  times?: Partial<FleetTimes>;
  shares?: Partial<FaultShares>;
  /** Rules that an audit looks at; default a few dozen. */
  auditRules?: number | undefined;
  /** Granularity of all times; default 50. */
  tickMs?: number;
}

/** A simulated computer as tests see it. */
export interface SimulatedComputer {
  readonly index: number;
  readonly title: string;
  /** Number under which the server knows it; null before it enrolled. */
  readonly computerId: number | null;
  readonly knobs: Knobs;
  readonly machine: Machine;
  readonly isEnrolled: boolean;
  /** Turned off, or restarting. */
  readonly isDown: boolean;
  /** Approved, its inventory told, nothing left to do or to send. */
  readonly isSettled: boolean;
  /** Makes an exchange due now. */
  exchangeSoon(): void;
  /** Starts a machine that was turned off. */
  powerOn(): void;
}

/** Many simulated agents in one process. */
export interface Fleet {
  readonly computers: readonly SimulatedComputer[];
  readonly ledger: Ledger;
  readonly statistics: Readonly<FleetStatistics>;
  /** What the server did that no real agent would accept, with how often; empty for a correct server. */
  readonly violations: ReadonlyMap<string, number>;
  /** Begins once the gateway answers; resolves then. Enrolment follows by itself. */
  start(): Promise<void>;
  /** Resolves when every computer is settled. @throws after the time limit, naming some that are not */
  settled(limitMs: number): Promise<void>;
  /** Ends all exchanges and writes the state; nothing is sent or written afterwards. May be called twice. */
  stop(): Promise<void>;
}

const GATEWAY_POLL_MS = 1000;
const GATEWAY_COMPLAINT_EVERY = 30;
const SETTLED_POLL_MS = 100;
const HOUSEKEEPING_MS = 30_000;
const DRAIN_MS = 1000;

/**
 * Makes a fleet of simulated computers whose agents speak the real protocol over HTTP.
 *
 * @throws when the state file belongs to a fleet of another seed
 * @remarks Like a real agent, an agent loses what it had not committed when it is killed: facts, which it tells again,
 *   and the batch it kept for a server that steps back. Identity, counters, results and operations taken over survive;
 *   a recovery key does not: its result becomes one of failure.
 */
export function createFleet(options: FleetOptions): Fleet {
  const settings = settingsOf(options);
  const context = createContext(settings, options.tickMs);
  const agents = Array.from(
    { length: settings.computers },
    (_, index) => new Agent(context, index, context.state.agents.get(index)),
  );
  return new RunningFleet(context, agents);
}

function settingsOf(options: FleetOptions): FleetSettings {
  return {
    computers: options.computers,
    url: options.url,
    account: options.account ?? 'standalone',
    registrationKey: options.registrationKey ?? null,
    seed: options.seed ?? 1,
    stateFile: options.stateFile ?? null,
    ledgerFile: options.ledgerFile ?? null,
    connections: options.connections ?? 64,
    times: { ...defaultTimes(options.computers), ...options.times },
    shares: { ...NO_FAULTS, ...options.shares },
    auditRules: options.auditRules ?? DEFAULT_AUDIT_RULES,
    logger: options.logger,
  };
}

interface RunningContext extends FleetContext {
  readonly violations: Map<string, number>;
  isClosed: boolean;
}

function createContext(settings: FleetSettings, tickMs: number | undefined): RunningContext {
  const { seed, logger } = settings;
  const fresh = { seed, epoch: Math.floor(Date.now() / 1000), packageIds: {} };
  const state = openStateFile(settings.stateFile, fresh);
  const registry = new PackageIdRegistry();
  registry.restore(state.fleet.packageIds);
  const violations = new Map<string, number>();
  const refusals = new Set<string>();
  return {
    settings,
    epoch: state.fleet.epoch,
    wheel: createTimerWheel(tickMs),
    transport: createTransport(settings.url, settings.connections),
    ledger: openLedger(settings.ledgerFile),
    registry,
    state,
    statistics: { exchanges: 0, failedExchanges: 0, pings: 0, failedPings: 0 },
    draws: createRandom(seed, 'events', Date.now()),
    isClosed: false,
    violations,
    refused(reason) {
      if (!refusals.has(reason))
        logger.warn({ reason, account: settings.account }, 'registration refused, trying again');
      refusals.add(reason);
    },
    violation(text) {
      const count = (violations.get(text) ?? 0) + 1;
      violations.set(text, count);
      if (count === 1) logger.warn({ violation: text }, 'the server did what no agent accepts');
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

  get ledger(): Ledger {
    return this.#context.ledger;
  }

  get statistics(): FleetStatistics {
    return this.#context.statistics;
  }

  get violations(): ReadonlyMap<string, number> {
    return this.#context.violations;
  }

  async start(): Promise<void> {
    await this.#gatewayAnswers();
    if (this.#stopped) return;
    const { rampMs } = this.#context.settings.times;
    for (const agent of this.computers) agent.start((rampMs * agent.index) / this.computers.length);
    this.#keepHouse();
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
    const { wheel, transport, ledger, state } = this.#context;
    wheel.stop();
    const end = performance.now() + DRAIN_MS;
    while (this.computers.some((agent) => agent.isExchanging) && performance.now() < end) await pause(20);
    this.#context.isClosed = true;
    transport.close();
    this.#savePackageIds();
    state.close(this.#records());
    ledger.close();
  }

  async #gatewayAnswers(): Promise<void> {
    const { transport, settings } = this.#context;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (let tries = 1; !this.#stopped; tries++) {
      const status = await transport.post('ping', 'insecure_id=0', headers).then(
        (reply) => reply.status,
        () => null,
      );
      if (status === 200) return;
      if (tries % GATEWAY_COMPLAINT_EVERY === 1) {
        settings.logger.info({ url: settings.url, status }, 'waiting for the gateway');
      }
      await pause(GATEWAY_POLL_MS);
    }
  }

  #keepHouse(): void {
    const { state, wheel } = this.#context;
    wheel.after(HOUSEKEEPING_MS, () => {
      this.#savePackageIds();
      if (state.isBloated) state.compact(this.#records());
      this.#keepHouse();
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
