import {
  IMPORTED_PROFILE_TYPES,
  type ImportDocument,
  type ImportedComputer,
  type ImportedContract,
  type ImportedLicense,
  type ImportedProfile,
  ImportError,
  type ProfileAssociation,
} from './document.ts';
import { ValueReader } from './value-reader.ts';

const STATUSES = ['compliant', 'noncompliant'] as const;
const WITH_STATUS: readonly string[] = ['wsl', 'package'];

/** Parses an import file. @throws {ImportError} with everything that is malformed */
export function readImportDocument(text: string): ImportDocument {
  const reader = new ValueReader();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ImportError([{ path: '', message: 'is not JSON' }]);
  }
  const top = reader.object(json, '', ['account', 'licenses', 'contracts', 'profiles', 'computers']);
  if (!top) throw new ImportError(reader.problems);
  const document: ImportDocument = {
    account: top['account'] === undefined ? null : reader.line(top['account'], 'account'),
    licenses: reader.list(top['licenses'], 'licenses', (item, path) => readLicense(reader, item, path)),
    contracts: reader.list(top['contracts'], 'contracts', (item, path) => readContract(reader, item, path)),
    profiles: reader.list(top['profiles'], 'profiles', (item, path) => readProfile(reader, item, path)),
    computers: reader.list(top['computers'], 'computers', (item, path) => readComputer(reader, item, path)),
  };
  if (reader.problems.length === 0) rejectDuplicates(reader, document);
  if (reader.problems.length > 0) throw new ImportError(reader.problems);
  return document;
}

function rejectDuplicates(reader: ValueReader, { licenses, contracts, profiles, computers }: ImportDocument): void {
  reader.distinct(licenses, 'licenses', ({ id }) => String(id), 'the id of an earlier one');
  reader.distinct(contracts, 'contracts', ({ id }) => id, 'the id of an earlier one');
  reader.distinct(profiles, 'profiles', ({ type, id }) => `${type} ${id}`, 'type and id of an earlier one');
  reader.distinct(profiles, 'profiles', ({ type, name }) => `${type} ${name}`, 'type and name of an earlier one');
  computers.forEach((computer, index) => {
    const path = `computers[${index}]`;
    reader.distinct(computer.contracts ?? [], `${path}.contracts`, (id) => id, 'an earlier one');
    const keyOf = ({ type, id }: ProfileAssociation) => `${type} ${id}`;
    reader.distinct(computer.profiles ?? [], `${path}.profiles`, keyOf, 'an earlier one');
  });
}

function readLicense(reader: ValueReader, item: unknown, path: string): ImportedLicense | null {
  const value = reader.object(item, path, ['id', 'title', 'expires']);
  return (
    value && {
      id: reader.id(value['id'], `${path}.id`),
      title: reader.optionalLine(value['title'], `${path}.title`),
      expires: reader.moment(value['expires'], `${path}.expires`),
    }
  );
}

function readContract(reader: ValueReader, item: unknown, path: string): ImportedContract | null {
  const value = reader.object(item, path, ['id', 'title', 'free', 'expires']);
  return (
    value && {
      id: reader.line(value['id'], `${path}.id`),
      title: reader.optionalLine(value['title'], `${path}.title`),
      free: reader.flag(value['free'], `${path}.free`),
      expires: reader.moment(value['expires'], `${path}.expires`),
    }
  );
}

function readProfile(reader: ValueReader, item: unknown, path: string): ImportedProfile | null {
  const value = reader.object(item, path, ['type', 'id', 'name', 'title']);
  if (!value) return null;
  const name = reader.line(value['name'], `${path}.name`);
  return {
    type: reader.oneOf(value['type'], `${path}.type`, IMPORTED_PROFILE_TYPES),
    id: reader.id(value['id'], `${path}.id`),
    name,
    title: value['title'] === undefined ? name : reader.line(value['title'], `${path}.title`),
  };
}

function readComputer(reader: ValueReader, item: unknown, path: string): ImportedComputer | null {
  const value = reader.object(item, path, ['id', 'hostname', 'license', 'contracts', 'profiles']);
  if (!value) return null;
  const { id, hostname, license, contracts, profiles } = value;
  if ((id === undefined) === (hostname === undefined)) reader.addProblem(path, 'must have either id or hostname');
  return {
    id: id === undefined ? null : reader.id(id, `${path}.id`),
    hostname: hostname === undefined ? null : reader.line(hostname, `${path}.hostname`),
    license: license === undefined || license === null ? license : reader.id(license, `${path}.license`),
    contracts:
      contracts === undefined
        ? undefined
        : reader.list(contracts, `${path}.contracts`, (entry, where) => reader.line(entry, where)),
    profiles:
      profiles === undefined
        ? undefined
        : reader.list(profiles, `${path}.profiles`, (entry, where) => readAssociation(reader, entry, where)),
  };
}

function readAssociation(reader: ValueReader, item: unknown, path: string): ProfileAssociation | null {
  const value = reader.object(item, path, ['type', 'id', 'status']);
  if (!value) return null;
  const type = reader.oneOf(value['type'], `${path}.type`, IMPORTED_PROFILE_TYPES);
  const status = value['status'] ?? null;
  if (status !== null && !WITH_STATUS.includes(type)) {
    reader.addProblem(`${path}.status`, `is for profiles of the types ${WITH_STATUS.join(' and ')} only`);
  }
  return {
    type,
    id: reader.id(value['id'], `${path}.id`),
    status: status === null ? null : reader.oneOf(status, `${path}.status`, STATUSES),
  };
}
