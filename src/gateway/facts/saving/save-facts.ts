import { MAX_INT4 } from '../../../domain/common/integers.ts';
import { recordNotices } from '../../../persistence/computers/computer-notices.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { EncryptionKey } from '../../../process/config.ts';
import { encryptSecret, recoveryKeyContext } from '../../../services/common/secret-box.ts';
import type { Facts, RecoveryKey, RejectedMessage } from '../facts.ts';
import type { Fault } from '../faults.ts';
import { savePackages } from '../packages.ts';
import { saveProcesses } from '../processes.ts';
import { scopeOf } from '../scopes.ts';
import { saveUsers } from '../users.ts';
import type { PerComputer } from './per-computer.ts';
import {
  lockComputers,
  saveClientAnnotations,
  saveClientTags,
  saveComputers,
  saveInventories,
} from './save-computer.ts';
import { saveHardware, saveNetworks, saveSnaps } from './save-devices.ts';
import { saveSnapsBeforeAnswered, updateSnapsBetweenResults } from './snap-states.ts';

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
    await saveSnapsBeforeAnswered(tx, all);
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

/** One kind of fact, for the computers that reported it. */
function pick<T>(all: ReadonlyArray<PerComputer<Facts>>, fact: (facts: Facts) => T | null): PerComputer<T>[] {
  return all.flatMap(({ computerId, value }) => {
    const found = fact(value);
    return found === null ? [] : [{ computerId, value: found }];
  });
}

/** Counts messages without effect by type, and stores the last reason. */
export async function saveRejected(
  tx: Sql,
  computerId: number,
  rejected: readonly RejectedMessage[],
  now: Date,
): Promise<void> {
  const byType = new Map<string, { reason: string; seen: number }>();
  for (const { type, reason } of rejected) byType.set(type, { reason, seen: (byType.get(type)?.seen ?? 0) + 1 });
  const entries = [...byType].sort(([a], [b]) => (a < b ? -1 : 1));
  await tx.query(
    `insert into agent_rejected_message as known (computer_id, type, reason, seen, last_seen_at)
     select $1, r.type, r.reason, r.seen, $5 from unnest($2::text[], $3::text[], $4::int[]) r(type, reason, seen)
     on conflict (computer_id, type) do update
       set reason = excluded.reason, seen = known.seen + excluded.seen, last_seen_at = excluded.last_seen_at`,
    [
      computerId,
      entries.map(([type]) => type),
      entries.map(([, { reason }]) => reason),
      entries.map(([, { seen }]) => seen),
      now,
    ],
  );
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

/** Saves data that came with results of this computer's operations and ignores all other. */
async function saveReports(tx: Sql, context: SaveContext, facts: Facts): Promise<void> {
  const { computerId, now } = context;
  const isPossible = (id: number) => id >= 1 && id <= MAX_INT4;
  for (const { operationId, key } of firstResultKeys(facts).filter((item) => isPossible(item.operationId))) {
    const { keyId, ciphertext } = encryptSecret(context.encryptionKeys, key, recoveryKeyContext(computerId));
    await tx.query(SAVE_RECOVERY_KEY, [computerId, operationId, keyId, ciphertext, now]);
  }
  for (const { operationId, runId, report } of facts.auditReports.filter((item) => isPossible(item.operationId))) {
    await tx.query(SAVE_AUDIT_REPORT, [computerId, operationId, runId, report, now]);
  }
  for (const result of facts.packageResults.filter((item) => isPossible(item.operationId))) {
    await tx.query(SAVE_PACKAGE_RESULT, [computerId, result.operationId, result.mustInstall, result.mustRemove]);
  }
}

/** Keys that came with the first result of their operation; later results do not count. */
function firstResultKeys({ recoveryKeys, results }: Facts): RecoveryKey[] {
  if (recoveryKeys.length === 0) return [];
  const first = new Map<number, number>();
  for (const [index, { operationId }] of results.entries()) {
    if (!first.has(operationId)) first.set(operationId, index);
  }
  return recoveryKeys.filter(({ operationId, resultIndex }) => first.get(operationId) === resultIndex);
}

const whereSent = (messageType: string) => `
  from agent_message m join operation_payload p on p.id = m.payload_id join activity a on a.id = m.activity_id
  where m.activity_id = $2 and m.computer_id = $1 and m.state in ('sent', 'acked', 'dropped')
    and p.message_type = '${messageType}'`;

/** `expression` over the first unprocessed result, with the alias `i`. */
const firstResult = (expression: string) => `(
    select ${expression} from agent_inbox i
    where i.lane_id = m.lane_id and i.activity_id = m.activity_id and i.kind = 'result' order by i.id limit 1)`;

// This exchange's result is in the inbox already; one of another transaction came earlier.
const ANSWERED_NOW = `a.status not in ('succeeded', 'failed')
    and ${firstResult('i.ok and i.xmin = pg_current_xact_id()::xid')}`;

// The key of the newer generation wins, whichever is reported first.
const SAVE_RECOVERY_KEY = `
  insert into computer_recovery_key (computer_id, activity_id, key_id, sealed, created_at)
  select $1, $2, $3, $4, $5 ${whereSent('fde-recovery-key')} and ${ANSWERED_NOW}
  on conflict (computer_id) do update set activity_id = excluded.activity_id, key_id = excluded.key_id,
    sealed = excluded.sealed, created_at = excluded.created_at
  where computer_recovery_key.activity_id < excluded.activity_id`;

// A report can arrive before, with or after its result; that of a failed audit is ignored.
const SAVE_AUDIT_REPORT = `
  insert into usg_audit_report (activity_id, computer_id, run_id, report, received_at)
  select $2, $1, $3, $4, $5 ${whereSent('usg')}
    and a.status <> 'failed' and ${firstResult('i.ok')} is distinct from false
  on conflict (activity_id) do nothing`;

/** The ids of a parameter that the account may name, in their order. */
const onlyNamable = (ids: string) => `
  array(select u.id from unnest(${ids}::int[]) with ordinality u(id, ordinal)
    where u.id <@ (select ids from namable) order by u.ordinal)`;

const SAVE_PACKAGE_RESULT = `
  with namable as (
    select coalesce(k.known, '{}') + coalesce(s.installed + s.available + s.available_upgrades, '{}') as ids
    from computer c left join account_packages k on k.account_id = c.account_id
    left join computer_packages s on s.computer_id = c.id where c.id = $1
  )
  insert into package_change_result (activity_id, computer_id, must_install, must_remove)
  select $2, $1, ${onlyNamable('$3')}, ${onlyNamable('$4')} ${whereSent('change-packages')}
  on conflict (activity_id) do nothing`;
