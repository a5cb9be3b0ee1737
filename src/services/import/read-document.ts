import { Ajv, type ErrorObject } from 'ajv';
import { parseInstant } from '../../domain/common/instant.ts';
import type { Contract, License, Profile, ProfileAssociation } from '../../persistence/import/import.sql.ts';
import schema from './import.schema.json' with { type: 'json' };

/** Facts about a fleet that agents do not report. */
export interface ImportDocument {
  /** Account name; null for the only account. */
  account: string | null;
  licenses: License[];
  contracts: Contract[];
  profiles: Profile[];
  computers: ImportedComputer[];
}

/** A computer by its id or hostname. Undefined fields do not change. */
interface ImportedComputer {
  id: number | null;
  hostname: string | null;
  license: number | null | undefined;
  contracts: string[] | undefined;
  profiles: ProfileAssociation[] | undefined;
}

export interface ImportProblem {
  path: string;
  message: string;
}

/** Lists what is wrong with a document; nothing of it was imported. */
export class ImportError extends Error {
  readonly problems: readonly ImportProblem[];

  constructor(problems: readonly ImportProblem[]) {
    super(problems.map(({ path, message }) => `${path === '' ? 'the file' : path} ${message}`).join('\n'));
    this.name = 'ImportError';
    this.problems = problems;
  }
}

type ProfileKey = Pick<Profile, 'type' | 'id'>;

interface Dated {
  title?: string;
  expires?: string | null;
}

interface ImportFile {
  account?: string;
  licenses?: Array<Dated & { id: number }>;
  contracts?: Array<Dated & { id: string; free?: boolean }>;
  profiles?: Array<ProfileKey & { name: string; title?: string }>;
  computers?: Array<{
    id?: number;
    hostname?: string;
    license?: number | null;
    contracts?: string[];
    profiles?: Array<ProfileKey & { status?: ProfileAssociation['status'] }>;
  }>;
}

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
ajv.addFormat('instant', (text) => parseInstant(text) !== null);
const isImportFile = ajv.compile<ImportFile>(schema);

/** Trims all texts. @throws {ImportError} with everything that is malformed */
export function readImportDocument(text: string): ImportDocument {
  let file: unknown;
  try {
    file = JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? value.trim() : value));
  } catch {
    throw new ImportError([{ path: '', message: 'is not JSON' }]);
  }
  if (!isImportFile(file)) throw new ImportError(isImportFile.errors!.flatMap(toProblem));
  const document = toDocument(file);
  const problems = repetitions(document);
  if (problems.length > 0) throw new ImportError(problems);
  return document;
}

/** The descriptions in the schema continue the sentence that a value must be. */
function toProblem({ instancePath, keyword, params, parentSchema }: ErrorObject): ImportProblem | [] {
  const path = toPath(instancePath);
  const { description, properties } = parentSchema as { description?: string; properties?: object };
  switch (keyword) {
    case 'additionalProperties': {
      const message = `is unknown here; known are ${Object.keys(properties!).join(', ')}`;
      return { path: keyAt(path, params['additionalProperty']), message };
    }
    case 'required':
      // Without properties it is one of several alternatives, which have an error of their own.
      return properties ? { path: keyAt(path, params['missingProperty']), message: 'is missing' } : [];
    case 'oneOf':
      return { path, message: 'must have either id or hostname' };
    case 'const':
      return { path, message: 'is for profiles of the types wsl and package only' };
    case 'if':
      return [];
    default:
      return { path, message: `must be ${description}` };
  }
}

function toPath(pointer: string): string {
  return pointer
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .slice(1);
}

function keyAt(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function toDocument({
  account,
  licenses = [],
  contracts = [],
  profiles = [],
  computers = [],
}: ImportFile): ImportDocument {
  const dated = ({ title = '', expires }: Dated) => ({ title, expires: expires ? parseInstant(expires) : null });
  return {
    account: account ?? null,
    licenses: licenses.map((license) => ({ ...license, ...dated(license) })),
    contracts: contracts.map(({ free = false, ...contract }) => ({ ...contract, free, ...dated(contract) })),
    profiles: profiles.map((profile) => ({ ...profile, title: profile.title ?? profile.name })),
    computers: computers.map(({ id = null, hostname = null, license, contracts, profiles }) => ({
      id,
      hostname,
      license,
      contracts,
      profiles: profiles?.map((profile) => ({ ...profile, status: profile.status ?? null })),
    })),
  };
}

function repetitions({ licenses, contracts, profiles, computers }: ImportDocument): ImportProblem[] {
  const keyOf = ({ type, id }: ProfileKey) => `${type} ${id}`;
  return [
    ...repeated(licenses, 'licenses', ({ id }) => String(id), 'the id of an earlier one'),
    ...repeated(contracts, 'contracts', ({ id }) => id, 'the id of an earlier one'),
    ...repeated(profiles, 'profiles', keyOf, 'type and id of an earlier one'),
    ...repeated(profiles, 'profiles', ({ type, name }) => `${type} ${name}`, 'type and name of an earlier one'),
    ...computers.flatMap((computer, index) => [
      ...repeated(computer.contracts ?? [], `computers[${index}].contracts`, (id) => id, 'an earlier one'),
      ...repeated(computer.profiles ?? [], `computers[${index}].profiles`, keyOf, 'an earlier one'),
    ]),
  ];
}

function repeated<T>(items: readonly T[], path: string, keyOf: (item: T) => string, what: string): ImportProblem[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return { path: `${path}[${index}]`, message: `repeats ${what}` };
    seen.add(key);
    return [];
  });
}
