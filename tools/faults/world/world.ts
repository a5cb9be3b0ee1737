import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { createAccount, createMember } from '../../harness/accounts.ts';
import { choosePorts, newStackRoot, TestStack } from '../../harness/stack.ts';
import { ApiClient } from '../../harness/stack-client.ts';
import { logTransitions } from '../../harness/stack-invariants.ts';
import type { StackRole } from '../../harness/stack-processes.ts';
import { FAULT_DIRECTORY, FAULT_PROXIES } from '../inside/fault-commands.ts';
import { requireApproval } from './approvals.ts';
import { type Computers, createComputers } from './fleets.ts';
import { createFaultableProcesses, type FaultableProcesses } from './processes.ts';
import { openProxies, type Proxies, proxySetting } from './proxies.ts';

/** Secrets that must not appear outside the processes' memory and encrypted columns. */
export const CANARIES = { password: 'Canary-pass-83126', script: 'canary-script-77215' } as const;
const EMAIL = 'admin@example.com';
const SECOND_ACCOUNT = 'neighbour';
const SECOND_COMPUTERS = 6;
const ENROL_LIMIT_MS = 180_000;
/** The supervisor does not restart a part that ends six times within a minute. */
const MOST_DEATHS_A_MINUTE = 4;

/** An account with its administrator and its computers. */
export interface Party {
  id: number;
  name: string;
  api: ApiClient;
  computers: Computers;
}

/** A real stack with two accounts, into whose processes every fault of the matrix can be injected. */
export class FaultWorld {
  readonly stack: TestStack;
  readonly proxies: Proxies;
  readonly processes: FaultableProcesses;
  readonly parties: Party[] = [];
  /** An administrator of the first account whose actions wait for approval. */
  trainee!: Party;
  /** Scripts and profiles that every seed uses. */
  readonly fixtures = { script: 0, auditProfile: 0, fixProfile: 0 };
  readonly #deaths: { role: StackRole; at: number }[] = [];

  private constructor(stack: TestStack, proxies: Proxies, directory: string) {
    this.stack = stack;
    this.proxies = proxies;
    this.processes = createFaultableProcesses(directory);
  }

  /** Starts a stack, enrols the computers of both accounts and creates what the seeds share. */
  static async start(computers: number, settings: Record<string, string> = {}): Promise<FaultWorld> {
    const root = await newStackRoot();
    const ports = await choosePorts();
    const directory = join(root, 'faults');
    mkdirSync(directory);
    const proxies = await openProxies(ports);
    const preload = pathToFileURL(join(import.meta.dirname, '../inside/preload.ts')).href;
    const stack = new TestStack(root, ports, {
      FLOTILLA_ADMIN_PASSWORD: CANARIES.password,
      FLOTILLA_SIMULATED_COMPUTERS: '0',
      // Several batches, and batches of several computers, even for a few dozen.
      FLOTILLA_SINGLE_BATCH_LIMIT: '8',
      FLOTILLA_BATCH_MIN_SIZE: '12',
      FLOTILLA_LOG_LEVEL: 'debug',
      FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL: '1',
      FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES: '10000',
      [FAULT_DIRECTORY]: directory,
      [FAULT_PROXIES]: proxySetting(proxies),
      NODE_OPTIONS: `--import=${preload}`,
      ...settings,
    });
    const world = new FaultWorld(stack, proxies, directory);
    try {
      await stack.start();
      await logTransitions(stack);
      await world.#populate(computers);
      return world;
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    for (const { computers } of this.parties) await computers.fleet.stop();
    for (const proxy of Object.values(this.proxies)) {
      proxy.thaw();
      await proxy.cut().catch(() => undefined);
    }
    await this.stack.dispose();
  }

  get main(): Party {
    return this.parties[0]!;
  }

  get neighbour(): Party {
    return this.parties[1]!;
  }

  secrets(): string[] {
    return [...Object.values(CANARIES), ...[...this.parties, this.trainee].map(({ api }) => api.token)];
  }

  newcomers(name: string, seed: number, computers: number): Computers {
    return this.#computers(name, 'standalone', seed, computers);
  }

  /** Kills a part; restarts the whole stack if the supervisor would not restart the part again. */
  async kill(role: StackRole): Promise<void> {
    if (await this.restartAtLimit(role)) return;
    await this.stack.waitUntil(`a ${role} to kill`, () => this.stack.processes(role).length > 0, { limitMs: 60_000 });
    await this.stack.kill(role);
    this.died(role);
  }

  /** Kills and restarts the whole stack if the supervisor would not restart the part again. @returns whether it did */
  async restartAtLimit(role: StackRole): Promise<boolean> {
    const since = performance.now() - 60_000;
    const recent = this.#deaths.filter((death) => death.role === role && death.at > since).length;
    if (recent < MOST_DEATHS_A_MINUTE) return false;
    await this.killEverything();
    return true;
  }

  died(role: StackRole): void {
    this.#deaths.push({ role, at: performance.now() });
  }

  async killEverything(): Promise<void> {
    await this.stack.killEverything();
    this.#deaths.length = 0;
    await this.stack.start();
  }

  async waitUntilReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => (await this.stack.readiness()).status === 200;
    await this.stack.waitUntil('the stack to be ready', isReady, { limitMs: 120_000 });
  }

  #computers(name: string, account: string, seed: number, computers: number): Computers {
    const url = `http://127.0.0.1:${this.proxies.agents.port}`;
    const directory = join(this.stack.root, 'beside');
    mkdirSync(directory, { recursive: true });
    return createComputers({ directory, name, url, account, seed, computers });
  }

  async #populate(computers: number): Promise<void> {
    const options = { url: this.stack.databaseUrl(), poolSize: 2, applicationName: 'flotilla-faults' };
    const { db, close } = await openPersistence(options);
    const [first] = await this.stack.rows<{ id: number }>(`select id from account where name = 'standalone'`);
    const { second, trainee } = await createPeople(db, first!.id).finally(close);
    await this.#join(first!.id, 'standalone', EMAIL, CANARIES.password, 1, computers);
    await this.#join(second.accountId, SECOND_ACCOUNT, second.email, second.password, 2, SECOND_COMPUTERS);
    await this.#furnish();
    await requireApproval(this.stack, trainee.personId);
    const api = new ApiClient(this.stack.url);
    await api.login(trainee.email, trainee.password);
    this.trainee = { ...this.main, name: 'trainee', api };
  }

  async #join(id: number, name: string, email: string, password: string, seed: number, size: number): Promise<void> {
    const api = new ApiClient(this.stack.url);
    await api.login(email, password);
    const computers = this.#computers(name, name, seed, size);
    this.parties.push({ id, name, api, computers });
    await computers.fleet.start();
    await computers.fleet.settled(ENROL_LIMIT_MS);
  }

  async #furnish(): Promise<void> {
    const { api, computers } = this.main;
    const code = `#!/bin/bash\n# ${CANARIES.script}\necho done\n`;
    const script = await api.post<{ id: number }>('/scripts', { title: 'Say done', code });
    const trigger = { trigger_type: 'event', event_type: 'post_enrollment' };
    await api.post('/script-profiles', {
      ...{ title: 'Greet', script_id: script.id, all_computers: true, tags: [], time_limit: 60, username: 'root' },
      trigger,
    });
    const audited = computers.takingSnaps().slice(0, 6);
    await api.post('/computers:add-tags', { query: audited.map((id) => `id:${id}`).join(' OR '), tags: ['audited'] });
    const profile = (title: string, mode: string): Promise<{ id: number }> =>
      api.post('/usg-profiles', {
        ...{ title, mode, benchmark: 'cis_level1_server', schedule: 'FREQ=WEEKLY', tags: ['audited'] },
        start_date: '2099-01-01T00:00:00Z',
      });
    this.fixtures.script = script.id;
    this.fixtures.auditProfile = (await profile('Audit', 'audit')).id;
    this.fixtures.fixProfile = (await profile('Fix', 'fix-restart-audit')).id;
  }
}

async function createPeople(db: Database, accountId: number) {
  const second = await createAccount(db, SECOND_ACCOUNT);
  const trainee = await createMember(db, { accountId, email: 'trainee@fleet.example', role: 'GlobalAdmin' });
  return { second, trainee };
}
