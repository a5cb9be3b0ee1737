import { ALERT_NAMES, type AlertName } from '../events/alerts.ts';
import { parseQuery, type Query, type QueryLanguage, type SelectorValue } from './parser.ts';
import { idOrNobody, readDays, readId, readTruth, readWord } from './values.ts';

/** @see docs/api-conventions.md#computer-selectors */
export type ComputerCriterion = NameCriterion | StateCriterion | LicenseCriterion;

type NameCriterion =
  | { kind: 'keyword' | 'hostname' | 'title' | 'tag' | 'search'; text: string }
  | { kind: 'id'; id: number }
  | { kind: 'access-group'; name: string; recursive: boolean }
  | { kind: 'annotation'; key: string; part: string | null };

type StateCriterion =
  | { kind: 'distribution'; text: string }
  | { kind: 'mac' | 'ip'; part: string }
  | { kind: 'cloud'; field: CloudField; text: string | null }
  | { kind: 'alert'; name: AlertName }
  | { kind: 'reboot' | 'release-upgrade' | 'upgrade-profile' }
  | ProfileCriterion;

export type LicenseCriterion =
  | { kind: 'license-id'; id: number }
  | { kind: 'license-type'; type: LicenseType }
  | { kind: 'contract'; text: string }
  | { kind: 'contract-expires' | 'license-expires'; days: number }
  | { kind: 'pro-management'; enabled: boolean };

export interface ProfileCriterion {
  kind: 'profile';
  type: ProfileType;
  id: number;
  status: ProfileStatus | null;
  /** Requested by the deprecated name `security`. @see docs/api-conventions.md#deprecation */
  deprecatedName: boolean;
}

export type ComputerQuery = Query<ComputerCriterion>;

export const LICENSE_TYPES = ['unlicensed', 'pro', 'free_pro', 'legacy'] as const;
export type LicenseType = (typeof LICENSE_TYPES)[number];

export const PROFILE_TYPES = ['usg', 'script', 'repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl'] as const;
export type ProfileType = (typeof PROFILE_TYPES)[number];

const USG_STATUSES = ['pass', 'fail', 'in-progress'] as const;
const WSL_STATUSES = ['compliant', 'noncompliant'] as const;
type ProfileStatus = (typeof USG_STATUSES)[number] | (typeof WSL_STATUSES)[number];

const CLOUD_FIELDS = ['instance-id', 'instance-type', 'ami-id', 'availability-zone'] as const;
export type CloudField = (typeof CLOUD_FIELDS)[number];

/** Unknown saved searches are detected later, when they are resolved. @throws {DomainError} InvalidQueryError */
export function parseComputerQuery(text: string, path?: string): ComputerQuery {
  return parseQuery(text, COMPUTER_LANGUAGE, path);
}

export function usesDeprecated({ clauses }: ComputerQuery): boolean {
  return clauses.some((factors) =>
    factors.some(({ criterion }) => criterion.kind === 'profile' && criterion.deprecatedName),
  );
}

type Reader = (value: SelectorValue) => ComputerCriterion;

const textOf =
  (kind: 'hostname' | 'title' | 'tag' | 'distribution' | 'contract' | 'search'): Reader =>
  ({ text }) => ({ kind, text });

const cloudOf =
  (field: CloudField): Reader =>
  ({ text }) => ({ kind: 'cloud', field, text: text === 'null' ? null : text });

const SELECTORS: ReadonlyArray<readonly [string, Reader]> = [
  ['tag', textOf('tag')],
  ['distribution', textOf('distribution')],
  ['hostname', textOf('hostname')],
  ['title', textOf('title')],
  ['alert', (value) => ({ kind: 'alert', name: readWord(value, ALERT_NAMES) })],
  ['access-group', ({ text }) => ({ kind: 'access-group', name: text, recursive: false })],
  ['access-group-recursive', ({ text }) => ({ kind: 'access-group', name: text, recursive: true })],
  ['id', (value) => ({ kind: 'id', id: readId(value) })],
  ['mac', ({ text }) => ({ kind: 'mac', part: text })],
  ['ip', ({ text }) => ({ kind: 'ip', part: text })],
  ['search', textOf('search')],
  ['needs', readNeed],
  ['license-id', readLicense],
  ['annotation', readAnnotation],
  ['profile', readProfile],
  ['release-upgrade', (value) => readWord(value, ['available']) && { kind: 'release-upgrade' }],
  ['license-type', (value) => ({ kind: 'license-type', type: readWord(value, LICENSE_TYPES) })],
  ['contract', textOf('contract')],
  ['contract-expires-within-days', (value) => ({ kind: 'contract-expires', days: readDays(value) })],
  ['license-expires-within-days', (value) => ({ kind: 'license-expires', days: readDays(value) })],
  ['has-pro-management', (value) => ({ kind: 'pro-management', enabled: readTruth(value) })],
  ['has', (value) => readWord(value, ['upgrade-profile']) && { kind: 'upgrade-profile' }],
  ...CLOUD_FIELDS.map((field) => [field, cloudOf(field)] as const),
];

export const COMPUTER_SELECTORS: readonly string[] = SELECTORS.map(([name]) => name);

const COMPUTER_LANGUAGE: QueryLanguage<ComputerCriterion> = {
  keyword: (text) => ({ kind: 'keyword', text }),
  selectors: new Map(SELECTORS),
};

function readNeed(value: SelectorValue): ComputerCriterion {
  const need = readWord(value, ['reboot', 'license']);
  return need === 'reboot' ? { kind: 'reboot' } : { kind: 'license-type', type: 'unlicensed' };
}

function readLicense({ text }: SelectorValue): ComputerCriterion {
  if (text === 'none') return { kind: 'license-type', type: 'unlicensed' };
  return { kind: 'license-id', id: idOrNobody(text) };
}

function readAnnotation({ text }: SelectorValue): ComputerCriterion {
  const colon = text.indexOf(':');
  if (colon < 0) return { kind: 'annotation', key: text, part: null };
  return { kind: 'annotation', key: text.slice(0, colon), part: text.slice(colon + 1) };
}

function readProfile(value: SelectorValue): ComputerCriterion {
  const [name, idText, status, ...rest] = value.text.split(':');
  const type = name === 'security' ? 'usg' : PROFILE_TYPES.find((known) => known === name);
  if (!type) throw value.expected(`one of the profile types ${['security', ...PROFILE_TYPES].join(', ')}`);
  if (idText === undefined) throw value.expected('a profile type and id');
  return {
    kind: 'profile',
    type,
    id: readId(value, idText),
    status: status === undefined ? null : readStatus(value, type, [status, ...rest].join(':')),
    deprecatedName: name === 'security',
  };
}

function readStatus(value: SelectorValue, type: ProfileType, text: string): ProfileStatus {
  const known: readonly ProfileStatus[] = type === 'usg' ? USG_STATUSES : type === 'wsl' ? WSL_STATUSES : [];
  const status = known.find((candidate) => candidate === text);
  if (status) return status;
  throw value.expected(known.length > 0 ? `one of the statuses ${known.join(', ')}` : `no status for type ${type}`);
}
