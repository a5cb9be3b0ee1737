import type { RecoveryKey } from '../../domain/agents/facts.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { saveAuditReport, savePackageResult, saveRecoveryKey } from '../../persistence/agents/operation-reports.sql.ts';
import { savePackages } from '../../persistence/agents/packages.sql.ts';
import type { PerComputer } from '../../persistence/agents/per-computer.ts';
import { saveRejected } from '../../persistence/agents/rejected-messages.sql.ts';
import {
  lockComputers,
  saveClientAnnotations,
  saveClientTags,
  saveComputers,
  saveHardware,
  saveInventories,
} from '../../persistence/agents/reported-computers.sql.ts';
import { saveNetworks, saveProcesses, saveSnaps, saveUsers } from '../../persistence/agents/reported-rows.sql.ts';
import { saveSnapsBeforeResults, updateSnapsBetweenResults } from '../../persistence/agents/snap-states.sql.ts';
import { recordNotices } from '../../persistence/computers/computer-notices.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { EncryptionKey } from '../../process/config.ts';
import { encryptSecret, recoveryKeyContext } from '../../services/common/secret-box.ts';
import type { Facts } from './facts.ts';
import type { Fault } from './faults.ts';
import { scopeOf } from './scopes.ts';

export interface SaveContext {
  computerId: number;
  now: Date;
  encryptionKeys: readonly EncryptionKey[];
}

/** Whether {@link saveFacts} would write anything. */
export function hasFacts(facts: Facts): boolean {
  return (
    Object.keys(facts.computer).length > 0 ||
    Object.keys(facts.inventory).length > 0 ||
    Object.keys(facts.unparsed).length > 0 ||
    facts.faults.all.length > 0 ||
    facts.recoveryKeys.length + facts.auditReports.length + facts.packageResults.length > 0 ||
    [facts.tags, facts.annotations, facts.network, facts.hardware].some((fact) => fact !== null) ||
    [facts.snaps, facts.processes, facts.users, facts.packages].some((fact) => fact !== null)
  );
}

export interface Reported {
  context: SaveContext;
  facts: Facts;
}

/** Saves facts of different computers, one statement per kind. @returns computers with inconsistent package sets */
export async function saveFacts(tx: Sql, reports: readonly Reported[]): Promise<Set<number>> {
  const all = reports.map(({ context, facts }) => ({ computerId: context.computerId, value: facts }));
  await saveComputerRows(tx, all);
  const networks = pick(all, (facts) => facts.network);
  if (networks.length > 0) await saveNetworks(tx, networks);
  const hardware = reports.flatMap(({ context: { computerId, now }, facts: { hardware: report } }) =>
    report === null ? [] : [{ computerId, value: { report, now } }],
  );
  if (hardware.length > 0) await saveHardware(tx, hardware);
  const snaps = pick(all, (facts) => facts.snaps);
  if (snaps.length > 0) {
    await saveSnapsBeforeResults(tx, all);
    await saveSnaps(tx, snaps);
    await updateSnapsBetweenResults(tx, all);
  }
  const processes = pick(all, (facts) => facts.processes);
  if (processes.length > 0) await saveProcesses(tx, processes);
  const users = pick(all, (facts) => facts.users);
  if (users.length > 0) await saveUsers(tx, users);
  for (const { context, facts } of reports) {
    await saveReports(tx, context, facts);
    if (facts.rejected.length > 0) await saveRejected(tx, context.computerId, facts.rejected, context.now);
  }
  const faults = reports.map(({ context, facts }) => ({ computerId: context.computerId, faults: facts.faults.all }));
  await saveFaults(tx, faults, reports[0]!.context.now);
  const packages = pick(all, (facts) => facts.packages);
  return packages.length > 0 ? savePackages(tx, packages, reports[0]!.context.now) : new Set();
}

async function saveComputerRows(tx: Sql, all: ReadonlyArray<PerComputer<Facts>>): Promise<void> {
  const computers = pick(all, ({ computer }) => (Object.keys(computer).length > 0 ? computer : null));
  const tags = pick(all, (facts) => facts.tags);
  const annotations = pick(all, (facts) => facts.annotations);
  const changing = new Set([...computers, ...tags, ...annotations].map(({ computerId }) => computerId));
  if (changing.size > 1) await lockComputers(tx, [...changing]);
  if (computers.length > 0) await saveComputers(tx, computers);
  const inventories = pick(all, ({ inventory: columns, unparsed }) =>
    Object.keys(columns).length + Object.keys(unparsed).length > 0 ? { columns, unparsed } : null,
  );
  if (inventories.length > 0) await saveInventories(tx, inventories);
  if (tags.length > 0) await saveClientTags(tx, tags);
  if (annotations.length > 0) await saveClientAnnotations(tx, annotations);
}

function pick<T>(all: ReadonlyArray<PerComputer<Facts>>, fact: (facts: Facts) => T | null): PerComputer<T>[] {
  return all.flatMap(({ computerId, value }) => {
    const found = fact(value);
    return found === null ? [] : [{ computerId, value: found }];
  });
}

/** Writes an event about each value that could not be stored as received. */
export async function saveFaults(
  tx: Sql,
  reports: ReadonlyArray<{ computerId: number; faults: readonly Fault[] }>,
  now: Date,
): Promise<void> {
  const notices = reports.flatMap(({ computerId, faults }) =>
    faults.map((fault) => ({ computerId, subject: subjectOf(fault), message: sentenceOf(fault) })),
  );
  if (notices.length > 0) await recordNotices(tx, notices, now);
}

/** Truncated texts share one event a day: everyone who can start a process can cause one. */
function subjectOf({ type, outcome, reason, items }: Fault): string {
  return `${type} ${outcome} ${outcome === 'skipped' ? items.join(' ') : ''} ${reason}`;
}

function sentenceOf({ type, outcome, reason, items, count }: Fault): string {
  const more = count > items.length && items.length > 0 ? ` and ${count - items.length} more` : '';
  const which = items.length === 0 ? '' : ` (${items.join(', ')}${more})`;
  const report = type === '' ? 'message of no known type' : `report ${type}`;
  if (outcome === 'shortened') return `Text in the computer's ${report} was cut: ${reason}${which}`;
  if (outcome === 'skipped') return `A part of the computer's ${report} was left out: ${reason}${which}`;
  const again = scopeOf(type) === null ? '' : '; it is requested again, at most once an hour';
  return `The computer's ${report} could not be used: ${reason}${which}${again}`;
}

async function saveReports(tx: Sql, context: SaveContext, facts: Facts): Promise<void> {
  const { computerId, now } = context;
  const isPossible = (id: number) => id >= 1 && id <= MAX_INT4;
  for (const { operationId, key } of firstResultKeys(facts).filter((item) => isPossible(item.operationId))) {
    const { keyId, ciphertext } = encryptSecret(context.encryptionKeys, key, recoveryKeyContext(computerId));
    await saveRecoveryKey(tx, { computerId, operationId, keyId, ciphertext, now });
  }
  for (const item of facts.auditReports.filter(({ operationId }) => isPossible(operationId))) {
    await saveAuditReport(tx, computerId, item, now);
  }
  for (const result of facts.packageResults.filter((item) => isPossible(item.operationId))) {
    await savePackageResult(tx, computerId, result);
  }
}

function firstResultKeys({ recoveryKeys, results }: Facts): RecoveryKey[] {
  if (recoveryKeys.length === 0) return [];
  const first = new Map<number, number>();
  for (const [index, { operationId }] of results.entries()) {
    if (!first.has(operationId)) first.set(operationId, index);
  }
  return recoveryKeys.filter(({ operationId, resultIndex }) => first.get(operationId) === resultIndex);
}
