import { type BObject, type BValue, decode, encode, isDict } from '../../src/protocol/bpickle.ts';
import { ExchangeLoop, type Speaker } from './broker/exchange-loop.ts';
import { OperationRunner, type RunnerHost } from './broker/operation-runner.ts';
import { isRepeatable, Reporter } from './broker/reporter.ts';
import { type Haste, Session, type SessionHost } from './broker/session.ts';
import { type TypeList, typeList } from './broker/type-list.ts';
import type { FleetContext } from './fleet-context.ts';
import { factOf } from './inventory/facts.ts';
import { Machine } from './inventory/machine.ts';
import { registrationOf } from './inventory/registration.ts';
import { createKnobs, goesAway, type Knobs } from './knobs.ts';
import { clientTypes } from './operations/index.ts';
import { withoutKey } from './operations/machine-operations.ts';
import type { Outcome } from './operations/operation.ts';
import type { PackageIds } from './package-ids.ts';
import type { AgentRecord } from './state-file.ts';

/** How long a process that died takes to start again. */
const RESTART_MS = 1000;

/** One simulated computer and the agent on it. */
export class Agent implements SessionHost, RunnerHost, Speaker {
  readonly index: number;
  readonly title: string;
  readonly knobs: Knobs;
  readonly machine: Machine;
  readonly #context: FleetContext;
  readonly #session: Session;
  readonly #reporter: Reporter;
  readonly #runner: OperationRunner;
  readonly #loop: ExchangeLoop;
  readonly #hasPackages: boolean;
  readonly #clientTypes: TypeList;
  #generation = 0;
  #life = 0;
  #down = false;
  /** Off for good once it has told about itself. */
  #leaves: boolean;
  /** An answer changed what no message tells of. */
  #hasty = false;
  #savedTypes: TypeList | null = null;

  constructor(context: FleetContext, index: number, record?: AgentRecord) {
    const { seed, shares } = context.settings;
    this.#context = context;
    this.index = index;
    this.machine = new Machine({ seed, index, epoch: context.epoch }, record?.machine);
    const { blueprint } = this.machine;
    this.title = blueprint.title;
    this.#hasPackages = blueprint.catalogue !== null;
    this.#clientTypes = typeList(clientTypes(blueprint));
    this.knobs = createKnobs(shares, seed, index);
    this.#leaves = goesAway(shares, seed, index);
    this.#session = new Session(this, record && { ...record.session, types: record.types });
    this.#reporter = new Reporter({
      machine: this.machine,
      session: this.#session,
      registry: context.registry,
      violation: (text) => this.violation(text),
      packagesReported: record?.packagesReported ?? false,
    });
    this.#runner = new OperationRunner(context, this);
    this.#loop = new ExchangeLoop(context, this, record?.intervals);
    if (record) this.#restore(record);
  }

  get computerId(): number | null {
    return this.#session.insecureId;
  }

  get packageIds(): PackageIds {
    return this.#reporter.packageIds;
  }

  get generation(): number {
    return this.#generation;
  }

  get life(): number {
    return this.#life;
  }

  get isDown(): boolean {
    return this.#down;
  }

  get isSilent(): boolean {
    return this.#down || this.knobs.offline || this.#session.bricked;
  }

  get isEnrolled(): boolean {
    return this.#session.secureId !== null;
  }

  get isExchanging(): boolean {
    return this.#loop.isExchanging;
  }

  /** Approved, everything told, and nothing left to do or to send. */
  get isSettled(): boolean {
    const idle = this.#session.queue.length === 0 && this.#runner.isIdle && !this.#loop.isExchanging;
    return this.#hasToldAll() && idle;
  }

  get record(): AgentRecord {
    return { ...this.#progress(), types: this.#session.accepted.names, machine: this.machine.changes };
  }

  start(delayMs: number): void {
    this.#loop.start(delayMs);
  }

  exchangeSoon(): void {
    this.#loop.schedule(0);
  }

  powerOn(): void {
    if (!this.#down) return;
    this.#down = false;
    this.#boot();
    this.#save({ machine: this.machine.changes });
    this.#loop.urgent();
  }

  die(): void {
    this.#endProcess();
    this.#context.wheel.after(RESTART_MS, () => {
      this.#reporter.processStarted();
      this.#loop.schedule(0);
    });
  }

  nowSeconds(): number {
    return Math.floor(Date.now() / 1000) + this.knobs.clockAhead;
  }

  registration(): BObject {
    const { account, registrationKey } = this.#context.settings;
    return registrationOf(this.machine.blueprint, account, registrationKey);
  }

  clientTypes(): TypeList {
    return this.#clientTypes;
  }

  typesAccepted(added: readonly string[]): void {
    this.#reporter.typesAccepted(added);
  }

  identityChanged(): void {
    this.#generation++;
    this.#reporter.forgetPackages();
    this.#hasty ||= this.isEnrolled;
  }

  serverChanged(): void {
    this.#reporter.serverChanged();
  }

  resynchronize(operationId: BValue | null, scopes: readonly string[] | null): void {
    if (!scopes) this.#generation++;
    this.#reporter.resynchronize(operationId, scopes);
  }

  handlePackageIds(message: BObject): void {
    this.#reporter.handlePackageIds(message);
  }

  operation(message: BObject): boolean {
    return this.#runner.take(message);
  }

  intervals(message: BObject): void {
    this.#session.bricked ||= !this.#loop.adopt(message);
    if (this.#session.bricked) this.violation('set-intervals below what agents survive');
  }

  refused(reason: string): void {
    this.#context.refused(reason);
  }

  violation(text: string): void {
    this.#context.violation(text);
  }

  beforeRegular(): void {
    if (this.isEnrolled) this.#reporter.regular(this.#context.draws);
  }

  prepare(): { headers: Record<string, string>; payload: BObject; sent: number } {
    const prepared = this.#session.prepare();
    if (prepared.sent > 0) this.#context.state.save(this.index, { queue: this.#queueRecord() });
    return prepared;
  }

  receive(answer: BValue, sent: number): Haste {
    this.#hasty = false;
    const life = this.#life;
    const quiet = sent === 0 && isDict(answer) && Array.isArray(answer['messages']) && answer['messages'].length === 0;
    const haste = this.#session.receive(answer, sent);
    if (!quiet || haste !== 'regular') this.#save();
    if (this.#leaves && this.#session.queue.length === 0 && this.#hasToldAll()) this.knobs.offline = true;
    if (life !== this.#life) return 'regular';
    return haste === 'regular' && this.#hasty ? 'urgent' : haste;
  }

  async download(id: number): Promise<Buffer | null> {
    const { transport } = this.#context;
    const headers = { 'X-Computer-ID': this.#session.secureId ?? '' };
    try {
      const { status, body } = await transport.turn(() => transport.get(`attachment/${id}`, headers));
      return status === 200 ? body : null;
    } catch {
      return null;
    }
  }

  finished(outcome: Outcome, generation: number): void {
    this.#reporter.report(outcome.facts ?? []);
    if (generation === this.#generation) {
      for (const message of [...outcome.results, ...(outcome.after ?? [])]) this.#session.send(message);
    }
    if (outcome.packages) this.#reporter.packagesChanged();
    if (outcome.power) this.machine.changes.isGoingDown = true;
    this.#save({ machine: this.machine.changes });
    if (outcome.power) this.#powerDown(outcome.power);
    else this.#loop.urgent();
  }

  /** A result may get out before the machine goes down, and otherwise waits for the boot. */
  #powerDown(power: 'reboot' | 'off'): void {
    const { wheel, settings } = this.#context;
    this.#loop.schedule(0);
    wheel.after(settings.times.urgentMs / 2, () => {
      this.#endProcess();
      this.#down = true;
      if (power === 'reboot') wheel.after(settings.times.rebootMs, () => this.powerOn());
    });
  }

  /** Forgets what lives in the memory of the process alone. */
  #endProcess(): void {
    this.#life++;
    this.#session.forgetToken();
    this.#session.queue.replace(withoutKey);
  }

  #boot(): void {
    this.machine.boot(this.nowSeconds());
    this.#reporter.processStarted();
    this.#reporter.report(['reboot-required-info', 'livepatch', 'ubuntu-pro-reboot-required']);
    this.#reporter.packagesChanged();
  }

  #hasToldAll(): boolean {
    return this.#session.isApproved && (this.#reporter.packagesReported || !this.#hasPackages);
  }

  #save(changed: Partial<AgentRecord> = {}): void {
    const { accepted } = this.#session;
    const types = this.#savedTypes === accepted ? {} : { types: accepted.names };
    this.#context.state.save(this.index, { ...this.#progress(), ...types, ...changed });
    this.#savedTypes = accepted;
  }

  /** What may change with every step. */
  #progress(): Omit<AgentRecord, 'types' | 'machine'> {
    const { types: _, ...session } = this.#session.record;
    return {
      session,
      queue: this.#queueRecord(),
      operations: this.#runner.unfinished,
      packagesReported: this.#reporter.packagesReported,
      bricked: this.#session.bricked,
      intervals: this.#loop.intervalsSet,
    };
  }

  #queueRecord(): (string | 0)[] {
    const bytes = (message: BObject): string => encode(withoutKey(message)).toString('base64');
    return this.#session.queue.all.map((message) => (isRepeatable(message) ? 0 : bytes(message)));
  }

  /** Facts of an earlier process leave a gap in the numbers: it is filled with a fact, and then all are told afresh. */
  #restore(record: AgentRecord): void {
    this.#session.bricked = record.bricked;
    for (const entry of record.queue) {
      const message = entry === 0 ? factOf('computer-info', this.machine) : decode(Buffer.from(entry, 'base64'));
      if (!isDict(message!)) continue;
      if (entry === 0) this.#session.send(message);
      else this.#session.requeue(message);
    }
    this.#runner.resume(record.operations);
    if (!this.#session.isApproved) return;
    if (record.queue.includes(0)) this.#reporter.resynchronize(null, null);
    if (record.machine.isGoingDown) this.#boot();
    else this.#reporter.processStarted();
  }
}
