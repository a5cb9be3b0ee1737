import { recordEvent } from '../../persistence/events/events.sql.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import {
  findComputers,
  findContracts,
  findImportAccounts,
  findLicenses,
  findProfiles,
  lockImports,
  replaceContracts,
  replaceLicenses,
  replaceProfiles,
  saveContracts,
  saveLicenses,
  saveProfiles,
} from '../../persistence/import/import.sql.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { quoted } from '../common/fields.ts';
import { type ImportDocument, ImportError, type ImportProblem } from './read-document.ts';

/** Idempotent, all or nothing. @throws {ImportError} @see docs/architecture.md#what-agents-do-not-report */
export async function importDocument(db: Database, document: ImportDocument) {
  return db.transaction(async (tx) => {
    const account = await findAccount(tx, document.account);
    await lockFleetShared(tx, account.id);
    await lockImports(tx);
    const computerIds = await check(tx, account.id, document);
    await save(tx, account.id, document, computerIds);
    const summary = {
      account: account.name,
      licenses: document.licenses.length,
      contracts: document.contracts.length,
      profiles: document.profiles.length,
      computers: document.computers.length,
    };
    await recordEvent(tx, actor(account.id), {
      entityType: 'Account',
      entityId: account.id,
      entityName: account.name,
      message: `Imported a file with ${summary.licenses} licences, ${summary.contracts} contracts, ${summary.profiles} profiles and ${summary.computers} computers`,
    });
    return summary;
  });
}

/** The command is not run by a person of the account. */
const actor = (accountId: number) => ({
  accountId,
  personId: null,
  name: 'npm run import',
  origin: { address: 'console', requestId: 'import' },
});

async function findAccount(tx: Sql, name: string | null): Promise<{ id: number; name: string }> {
  const accounts = await findImportAccounts(tx, name);
  if (accounts.length === 1) return accounts[0]!;
  const message =
    name === null
      ? 'is missing, and there is not exactly one account'
      : `must be an account; there is no ${quoted(name)}`;
  throw new ImportError([{ path: 'account', message }]);
}

type Report = (path: string, message: string) => void;

async function check(tx: Sql, accountId: number, document: ImportDocument): Promise<number[]> {
  const problems: ImportProblem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  await checkLicenses(tx, accountId, document, report);
  await checkContracts(tx, accountId, document, report);
  await checkProfiles(tx, accountId, document, report);
  const ids = await resolveComputers(tx, accountId, document, report);
  if (problems.length > 0) throw new ImportError(problems);
  return ids;
}

async function checkLicenses(tx: Sql, accountId: number, { licenses, computers }: ImportDocument, report: Report) {
  const own = new Set(licenses.map(({ id }) => id));
  const wanted = [...own, ...computers.flatMap(({ license }) => license ?? [])];
  const stored = await findLicenses(tx, wanted);
  licenses.forEach(({ id }, index) => {
    if ((stored.get(id) ?? accountId) !== accountId) report(`licenses[${index}].id`, 'is already taken');
  });
  computers.forEach(({ license }, index) => {
    if (license === undefined || license === null || own.has(license) || stored.get(license) === accountId) return;
    report(`computers[${index}].license`, `names no licence; there is no ${license}`);
  });
}

async function checkContracts(tx: Sql, accountId: number, { contracts, computers }: ImportDocument, report: Report) {
  const wanted = computers.flatMap((computer) => computer.contracts ?? []);
  const known = new Set([...contracts.map(({ id }) => id), ...(await findContracts(tx, accountId, wanted))]);
  computers.forEach((computer, index) => {
    computer.contracts?.forEach((id, place) => {
      if (known.has(id)) return;
      report(`computers[${index}].contracts[${place}]`, `names no contract; there is no ${quoted(id)}`);
    });
  });
}

const keyOf = ({ type, id }: { type: string; id: number }): string => `${type} ${id}`;

async function checkProfiles(tx: Sql, accountId: number, { profiles, computers }: ImportDocument, report: Report) {
  const stored = await findProfiles(tx, accountId);
  const own = new Set(profiles.map(keyOf));
  const names = new Map(stored.filter((row) => !own.has(keyOf(row))).map((row) => [`${row.type} ${row.name}`, row.id]));
  profiles.forEach(({ type, name }, index) => {
    const holder = names.get(`${type} ${name}`);
    if (holder !== undefined) report(`profiles[${index}].name`, `is that of the ${type} profile ${holder}`);
  });
  const known = new Set([...own, ...stored.map(keyOf)]);
  computers.forEach((computer, index) => {
    computer.profiles?.forEach((place, position) => {
      if (known.has(keyOf(place))) return;
      const path = `computers[${index}].profiles[${position}]`;
      report(path, `names no profile; there is no ${place.type} profile ${place.id}`);
    });
  });
}

async function resolveComputers(tx: Sql, accountId: number, { computers }: ImportDocument, report: Report) {
  const found = await findComputers(tx, accountId, computers);
  const seen = new Set<number>();
  return found.map(({ id, count }, index) => {
    const path = `computers[${index}]`;
    if (count === 0) report(path, 'names no computer of the fleet');
    else if (count > 1) report(`${path}.hostname`, `is that of ${count} computers; name the id instead`);
    else if (seen.has(id!)) report(path, 'names the computer of an earlier one');
    if (id !== null) seen.add(id);
    return id ?? 0;
  });
}

async function save(tx: Sql, accountId: number, document: ImportDocument, ids: readonly number[]): Promise<void> {
  await saveLicenses(tx, accountId, document.licenses);
  await saveContracts(tx, accountId, document.contracts);
  await saveProfiles(tx, accountId, document.profiles);
  const given = <Field extends 'license' | 'contracts' | 'profiles'>(field: Field) =>
    document.computers.flatMap(({ [field]: value }, index) => (value === undefined ? [] : { id: ids[index]!, value }));
  await replaceLicenses(tx, given('license'));
  await replaceContracts(tx, accountId, given('contracts'));
  await replaceProfiles(tx, accountId, given('profiles'));
}
