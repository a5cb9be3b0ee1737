import type { BObject, BValue } from '../../../src/protocol/bpickle.ts';
import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';
import type { FleetContext } from '../fleet-context.ts';
import { type FactType, factOf, factsInScopes, isFactType } from '../inventory/facts.ts';
import type { HashIds } from '../hash-ids.ts';
import type { Machine } from '../inventory/machine.ts';
import { packageDelta, packageDescription, packageSets, reporterResult } from '../inventory/package-sets.ts';
import { processesOf, processFact } from '../inventory/processes.ts';
import type { PackageIds } from '../package-ids.ts';
import type { Random } from '../random.ts';
import type { Session } from './session.ts';

/** @see docs/agent-protocol.md#packages */
const HASHES_PER_REQUEST = 500;

/** A request without a response is repeated after this time. */
const REQUEST_LIFETIME_MS = 2 * 3600_000;

const BUSY_PROCESSES = 3;

interface PackageState {
  installed: readonly number[];
  held: readonly number[];
  kernel: string | null;
}

const REPEATABLE_TYPES: ReadonlySet<string> = new Set([
  'add-packages',
  'package-reporter-result',
  'packages',
  'register',
  'unknown-package-hashes',
]);

/** Whether a message can be recreated from the state of the machine. */
export function isRepeatable(message: BObject): boolean {
  const type = String(message['type']);
  return (
    isFactType(type) ||
    REPEATABLE_TYPES.has(type) ||
    (type === 'resynchronize' && message['operation-id'] === undefined)
  );
}

/** Reports the facts of a machine: in full, changes of processes, and packages. */
export class Reporter {
  readonly #machine: Machine;
  readonly #session: Session;
  readonly #context: FleetContext;
  #requestId = 0;
  /** Catalogue positions by request id. */
  #openRequests: Map<number, number[]> | null = null;
  #openSince = 0;
  #hasIds: boolean;
  #hashIds: HashIds = new Map();
  /** The server that they were requested from. */
  #hashIdsFrom: string | null = null;
  #reported: PackageState | null = null;
  /** Snaps are reported once per process, and after changes. */
  #snapsReported = false;

  constructor(parts: {
    machine: Machine;
    session: Session;
    context: FleetContext;
    /** An earlier process has reported all package sets. */
    packagesReported: boolean;
  }) {
    this.#machine = parts.machine;
    this.#session = parts.session;
    this.#context = parts.context;
    this.#hasIds = parts.packagesReported && this.#isTableComplete();
    if (this.#hasIds) this.#reported = this.#packageState();
  }

  get packagesReported(): boolean {
    return this.#reported !== null;
  }

  get packageIds(): PackageIds {
    const { catalogue } = this.#machine.blueprint;
    const uuid = this.#session.serverUuid;
    return catalogue && uuid && this.#hasIds ? this.#context.registry.of(uuid, catalogue) : new Int32Array(0);
  }

  /** Looks for a file of ids, once per server, before any is requested. */
  async downloadHashIds(): Promise<void> {
    const { catalogue } = this.#machine.blueprint;
    const uuid = this.#session.serverUuid;
    if (!catalogue || !uuid || this.#hasIds || this.#hashIdsFrom === uuid) return;
    this.#hashIdsFrom = uuid;
    this.#hashIds = new Map();
    const { transport, hashIdFiles } = this.#context;
    const path = `hash-id-databases/${uuid}_${catalogue.release}_amd64`;
    const file = await transport.get(path, {}).catch(() => null);
    if (file?.status === 200) this.#hashIds = await hashIdFiles.read(file.body);
  }

  /** Reports facts of types that the server accepts. */
  report(types: readonly FactType[]): void {
    for (const type of types) {
      if (!this.#accepts(type)) continue;
      const fact = factOf(type, this.#machine);
      if (fact) this.#session.send(fact);
      if (type === 'snaps') this.#snapsReported = true;
    }
  }

  typesAccepted(added: readonly string[]): void {
    this.report(added.filter(isFactType).filter((type) => type !== 'snaps' || !this.#snapsReported));
    if (added.includes('unknown-package-hashes') || added.includes('packages')) this.#requestPackageIds();
  }

  /** Responds to a request, or starts over after the counters jumped. */
  resynchronize(operationId: BValue | null, scopes: readonly string[] | null): void {
    if (this.#accepts('resynchronize')) {
      this.#session.send({ type: 'resynchronize', ...(operationId === null ? {} : { 'operation-id': operationId }) });
    }
    this.report(factsInScopes(scopes));
    if (!scopes || scopes.includes('package')) {
      this.resetPackages();
      this.#requestPackageIds();
    }
  }

  /** Another server has other ids. */
  serverChanged(): void {
    this.resetPackages();
    this.#requestPackageIds();
  }

  resetPackages(): void {
    this.#hasIds = false;
    this.#reported = null;
    this.#openRequests = null;
    this.#requestId = 0;
  }

  processStarted(): void {
    this.#snapsReported = false;
    this.report(['processor-info', 'active-process-info', 'snaps']);
    if (!this.#reported) this.#requestPackageIds();
  }

  regularReport(random: Random): void {
    if (this.#accepts('active-process-info')) {
      const busy = random.sample(processesOf(this.#machine, this.#machine.blueprint), BUSY_PROCESSES);
      const updates = busy.map((process) => processFact(process, random.next()));
      this.#session.send({ type: 'active-process-info', 'update-processes': updates });
    }
    if (this.#openRequests && performance.now() - this.#openSince > REQUEST_LIFETIME_MS) {
      this.#openRequests = null;
      this.#requestPackageIds();
    }
  }

  packagesChanged(): void {
    const { catalogue } = this.#machine.blueprint;
    if (!catalogue || !this.#hasIds || !this.#accepts('packages')) return;
    const now = this.#packageState();
    const before = this.#reported && packageSets(catalogue, this.#reported);
    const delta = packageDelta(before, packageSets(catalogue, now), this.packageIds);
    this.#reported = now;
    if (this.#accepts('package-reporter-result')) this.#session.send(reporterResult());
    if (delta) this.#session.send(delta);
  }

  /** Describes the packages for which the server has no id. */
  handlePackageIds({ 'request-id': requestId, ids }: BObject): void {
    const { catalogue } = this.#machine.blueprint;
    const wanted = this.#openRequests?.get(Number(requestId));
    if (!catalogue || !wanted || !this.#session.serverUuid) return;
    if (!Array.isArray(ids) || ids.length !== wanted.length) {
      this.#context.violation('package-ids of another length');
      return;
    }
    this.#openRequests!.delete(Number(requestId));
    const table = this.#context.registry.of(this.#session.serverUuid, catalogue);
    const unknown: number[] = [];
    for (const [position, index] of wanted.entries()) {
      const id = ids[position];
      if (id == null) unknown.push(index);
      else this.#learn(table, index, Number(id));
    }
    if (unknown.length > 0) this.#describePackages(unknown);
    this.#reportIfComplete();
  }

  #learn(table: PackageIds, index: number, id: number): void {
    if (table[index] !== 0 && table[index] !== id) this.#context.violation('the id of a package changed');
    else this.#context.registry.learn(table, index, id);
  }

  #reportIfComplete(): void {
    if (this.#openRequests!.size > 0) return;
    this.#hasIds = true;
    this.#openRequests = null;
    this.packagesChanged();
  }

  #requestPackageIds(): void {
    const { catalogue } = this.#machine.blueprint;
    if (!catalogue || this.#openRequests || !this.#accepts('unknown-package-hashes')) return;
    this.#openRequests = new Map();
    this.#openSince = performance.now();
    if (this.#accepts('package-reporter-result')) this.#session.send(reporterResult());
    const sorted = this.#withoutId(catalogue).sort((a, b) => Buffer.compare(a.hash, b.hash));
    for (let from = 0; from < sorted.length; from += HASHES_PER_REQUEST) {
      const part = sorted.slice(from, from + HASHES_PER_REQUEST);
      const hashes = part.map((entry) => entry.hash);
      this.#session.send({ type: 'unknown-package-hashes', 'request-id': this.#request(part), hashes });
    }
    this.#reportIfComplete();
  }

  /** The packages that the downloaded file lacks. */
  #withoutId(catalogue: Catalogue): CataloguePackage[] {
    const table = this.#context.registry.of(this.#session.serverUuid!, catalogue);
    return catalogue.packages.filter(({ hash, index }) => {
      const id = this.#hashIds.get(hash.toString('hex'));
      if (id !== undefined) this.#learn(table, index, id);
      return id === undefined;
    });
  }

  #describePackages(indexes: readonly number[]): void {
    const { packages } = this.#machine.blueprint.catalogue!;
    const described = indexes.map((index) => packages[index]!);
    this.#session.send({
      type: 'add-packages',
      'request-id': this.#request(described),
      packages: described.map(packageDescription),
    });
  }

  #request(packages: readonly { index: number }[]): number {
    const id = ++this.#requestId;
    this.#openRequests!.set(
      id,
      packages.map((entry) => entry.index),
    );
    return id;
  }

  /** The shared table is written less often than the state of agents. */
  #isTableComplete(): boolean {
    const { catalogue } = this.#machine.blueprint;
    const uuid = this.#session.serverUuid;
    return catalogue !== null && uuid !== null && this.#context.registry.of(uuid, catalogue).every((id) => id > 0);
  }

  #packageState(): PackageState {
    return { installed: this.#machine.installed, held: this.#machine.held, kernel: this.#machine.kernel };
  }

  #accepts(type: string): boolean {
    return this.#session.accepted.set.has(type);
  }
}
