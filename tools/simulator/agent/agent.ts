import { type BObject, type BValue, decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import { type ComputerOptions, createComputerOptions, goesOffline } from '../computer-options.ts';
import type { FleetContext } from '../fleet-context.ts';
import { factOf } from '../inventory/facts.ts';
import { Machine } from '../inventory/machine.ts';
import { registrationOf } from '../inventory/registration.ts';
import { clientTypes } from '../operations/index.ts';
import { withoutKey } from '../operations/machine-operations.ts';
import type { Outcome } from '../operations/operation.ts';
import type { PackageIds } from '../package-ids.ts';
import type { AgentRecord } from '../state-file.ts';
import { ExchangeLoop, type LoopHost } from './exchange-loop.ts';
import { OperationRunner, type RunnerHost } from './operation-runner.ts';
import { isRepeatable, Reporter } from './reporter.ts';
import { type NextExchange, Session, type SessionHost } from './session.ts';
import { type TypeList, typeList } from './type-list.ts';

/** From a crash of the agent to its next start. */
const RESTART_MS = 1000;

/** One simulated computer and the agent on it. */
export class Agent implements SessionHost, RunnerHost, LoopHost {
  readonly index: number;
  readonly title: string;
  readonly options: ComputerOptions;
  readonly machine: Machine;
  readonly #context: FleetContext;
  readonly #session: Session;
  readonly #reporter: Reporter;
  readonly #runner: OperationRunner;
  readonly #loop: ExchangeLoop;
  readonly #hasPackages: boolean;
  readonly #clientTypes: TypeList;
  #generation = 0;
  #incarnation = 0;
  #down = false;
  /** Goes offline for good once it has reported its facts. */
  #goesOffline: boolean;
  /** The last response changed something that no queued message reports. */
  #isUrgent = false;
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
    this.options = createComputerOptions(shares, seed, index);
    this.#goesOffline = goesOffline(shares, seed, index);
    this.#session = new Session(this, record && { ...record.session, types: record.types });
    this.#reporter = new Reporter({
      machine: this.machine,
      session: this.#session,
      context,
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

  get incarnation(): number {
    return this.#incarnation;
  }

  get isDown(): boolean {
    return this.#down;
  }

  get isOffline(): boolean {
    return this.#down || this.options.offline || this.#session.bricked;
  }

  get isEnrolled(): boolean {
    return this.#session.secureId !== null;
  }

  get isExchanging(): boolean {
    return this.#loop.isExchanging;
  }

  get isSettled(): boolean {
    const idle = this.#session.queue.length === 0 && this.#runner.isIdle && !this.#loop.isExchanging;
    return this.#hasReportedAll() && idle;
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

  crash(): void {
    this.#endProcess();
    this.#context.wheel.after(RESTART_MS, () => {
      this.#reporter.processStarted();
      this.#loop.schedule(0);
    });
  }

  nowSeconds(): number {
    return Math.floor(Date.now() / 1000) + this.options.clockAhead;
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
    this.#reporter.resetPackages();
    this.#isUrgent ||= this.isEnrolled;
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
    return this.#runner.accept(message);
  }

  intervals(message: BObject): void {
    this.#session.bricked ||= !this.#loop.adopt(message);
    if (this.#session.bricked) this.violation('set-intervals below the minimum');
  }

  registrationRejected(reason: string): void {
    this.#context.registrationRejected(reason);
  }

  violation(text: string): void {
    this.#context.violation(text);
  }

  downloadHashIds(): Promise<void> {
    return this.#reporter.downloadHashIds();
  }

  beforeRegularExchange(): void {
    if (this.isEnrolled) this.#reporter.regularReport(this.#context.random);
  }

  prepare(): { headers: Record<string, string>; payload: BObject; sent: number } {
    const prepared = this.#session.prepare();
    if (prepared.sent > 0) this.#context.state.save(this.index, { queue: this.#queueRecord() });
    return prepared;
  }

  receive(response: BValue, sent: number): NextExchange {
    this.#isUrgent = false;
    const incarnation = this.#incarnation;
    const isEmpty =
      sent === 0 && isDict(response) && Array.isArray(response['messages']) && response['messages'].length === 0;
    const next = this.#session.receive(response, sent);
    if (!isEmpty || next !== 'regular') this.#save();
    if (this.#goesOffline && this.#session.queue.length === 0 && this.#hasReportedAll()) this.options.offline = true;
    if (incarnation !== this.#incarnation) return 'regular';
    return next === 'regular' && this.#isUrgent ? 'urgent' : next;
  }

  async download(id: number): Promise<Buffer | null> {
    const { transport } = this.#context;
    const headers = { 'X-Computer-ID': this.#session.secureId ?? '' };
    try {
      const { status, body } = await transport.whenConnectionFree(() => transport.get(`attachment/${id}`, headers));
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

  /** The result may be sent before the machine goes down, and otherwise after the boot. */
  #powerDown(power: 'reboot' | 'off'): void {
    const { wheel, settings } = this.#context;
    this.#loop.schedule(0);
    wheel.after(settings.times.urgentMs / 2, () => {
      this.#endProcess();
      this.#down = true;
      if (power === 'reboot') wheel.after(settings.times.rebootMs, () => this.powerOn());
    });
  }

  #endProcess(): void {
    this.#incarnation++;
    this.#session.dropToken();
    this.#session.queue.replace(withoutKey);
  }

  #boot(): void {
    this.machine.boot(this.nowSeconds());
    this.#reporter.processStarted();
    this.#reporter.report(['reboot-required-info', 'livepatch', 'ubuntu-pro-reboot-required']);
    this.#reporter.packagesChanged();
  }

  #hasReportedAll(): boolean {
    return this.#session.isApproved && (this.#reporter.packagesReported || !this.#hasPackages);
  }

  #save(changed: Partial<AgentRecord> = {}): void {
    const { accepted } = this.#session;
    const types = this.#savedTypes === accepted ? {} : { types: accepted.names };
    this.#context.state.save(this.index, { ...this.#progress(), ...types, ...changed });
    this.#savedTypes = accepted;
  }

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

  /** Facts are not stored: any fact takes their places in the numbering, and then all are reported again. */
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
