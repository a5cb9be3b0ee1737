import fc from '../../support/common/random.ts';
import {
  ADDRESSES,
  CONTRACTS,
  GROUPS,
  inDays,
  KEYS,
  MACS,
  NAMES,
  NOW,
  PROFILE_TYPES,
  SEATS,
  TAGS,
  TEXTS,
  USG_PROFILES,
  type UsgProfileName,
  type WorldComputer,
} from './query-world.ts';
import type { StoredWorld } from './query-world-rows.ts';

/** One term of a query: a keyword, or a selector with what follows its colon. */
export interface ReferenceTerm {
  /** Null for a keyword. */
  selector: string | null;
  value: string;
}

/** A query as its meaning: all clauses, one factor of each, negated `nots` times. */
export type ReferenceQuery = ReadonlyArray<ReadonlyArray<{ nots: number; term: ReferenceTerm }>>;

/** What the names and ids of a query mean. */
interface ReferenceScope {
  stored: StoredWorld;
  account: 0 | 1;
  searches: ReadonlyMap<string, ReferenceQuery>;
}

/** Whether, by the words of the specification alone, a computer fulfils a query. */
export function fulfils(computer: WorldComputer, query: ReferenceQuery, scope: ReferenceScope): boolean {
  return query.every((factors) =>
    factors.some(({ nots, term }) => termHolds(computer, term, scope) === (nots % 2 === 0)),
  );
}

const same = (a: string | null | undefined, b: string) => a != null && a.toLowerCase() === b.toLowerCase();
const within = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());

function termHolds(computer: WorldComputer, { selector, value }: ReferenceTerm, scope: ReferenceScope): boolean {
  if (selector === null) return within(computer.hostname, value) || within(computer.title, value);
  return SELECTORS[selector]!(computer, value, scope);
}

type Holds = (computer: WorldComputer, value: string, scope: ReferenceScope) => boolean;

const SELECTORS: Readonly<Record<string, Holds>> = {
  tag: (c, value) => c.tags.includes(value),
  hostname: (c, value) => same(c.hostname, value),
  title: (c, value) => same(c.title, value),
  distribution: (c, value) =>
    same('windows', value)
      ? c.info?.distributor === 'Microsoft'
      : same(c.distribution, value) || same(c.info?.code_name, value),
  alert: (c, value) => !c.archived && ALERTS[value]!(c),
  'access-group': (c, value) => c.group === value,
  'access-group-recursive': (c, value) => isBelow(c.group, value),
  id: (c, value, { stored }) => stored.ids[c.index] === Number(value),
  mac: (c, value) => c.devices.some(({ mac }) => within(mac, value)),
  ip: (c, value) => c.devices.some(({ ip }) => within(ip, value)),
  search: (c, value, scope) => fulfils(c, scope.searches.get(value)!, scope),
  needs: (c, value) => (value === 'reboot' ? c.reboot : isUnlicensed(c)),
  'license-id': (c, value, { stored }) =>
    value === 'none'
      ? isUnlicensed(c)
      : c.license !== null && String(stored.seats[c.account]![c.license]) === value.replace(/^0+/, ''),
  annotation: hasAnnotation,
  profile: hasProfile,
  'release-upgrade': (c) => hasReleaseUpgrade(c),
  'license-type': (c, value) => LICENSE_TYPES[value]!(c),
  contract: (c, value) => contractsOf(c).some(({ id }) => id === value),
  'contract-expires-within-days': (c, value) => contractsOf(c).some(({ expires }) => isWithin(expires, value)),
  'license-expires-within-days': (c, value) =>
    c.license !== null && isWithin(inDays(SEATS[c.license] + c.account), value),
  'has-pro-management': (c, value) => isAttached(c) === ['true', '1', 'yes', 'on'].includes(value.toLowerCase()),
  has: (c) => c.profiles.some(({ type }) => type === 'upgrade'),
  'instance-id': (c, value) => (c.cloud['instance-id'] ?? 'null') === value,
  'instance-type': (c, value) => (c.cloud['instance-type'] ?? 'null') === value,
  'ami-id': (_, value) => value === 'null',
  'availability-zone': (c, value) =>
    value === 'null' ? c.cloudInit['availability_zone'] === undefined : c.cloudInit['availability_zone'] === value,
};

const ALERTS: Readonly<Record<string, (c: WorldComputer) => boolean>> = {
  'package-upgrades': (c) => c.upgrades.regular > 0,
  'security-upgrades': (c) => c.upgrades.security > 0,
  'package-reporter': (c) => c.reporterFailed,
  'computer-offline': (c) => c.silentMinutes > 5,
  'computer-reboot': (c) => c.reboot,
};

function isBelow(group: string | null, root: string): boolean {
  return group !== null && (group === root || isBelow(GROUPS[group]!, root));
}

function hasAnnotation(c: WorldComputer, value: string): boolean {
  const colon = value.indexOf(':');
  const text = c.annotations[colon < 0 ? value : value.slice(0, colon)];
  return text?.includes(colon < 0 ? '' : value.slice(colon + 1)) ?? false;
}

function hasProfile(c: WorldComputer, value: string, scope: ReferenceScope): boolean {
  const [type, id, status] = value.split(':');
  if (type === 'usg' || type === 'security') return hasUsgProfile(c, Number(id), status, scope);
  return c.profiles.some(
    (p) => p.type === type && p.id === Number(id) && (status === undefined || p.status === status),
  );
}

function hasUsgProfile(c: WorldComputer, id: number, status: string | undefined, scope: ReferenceScope): boolean {
  const own = Object.entries(scope.stored.usg[c.account]!).find(([, known]) => known === id);
  if (!own) return false;
  const name = own[0] as UsgProfileName;
  const { group, all, tags } = USG_PROFILES[name];
  if (!isBelow(c.group, group) || !(all || tags.some((tag) => c.tags.includes(tag)))) return false;
  const audits = c.audits[name];
  if (status === undefined) return true;
  if (status !== 'in-progress') return audits.findLast((state) => ['pass', 'fail'].includes(state)) === status;
  return name !== 'archived' && audits.some((state) => ['queued', 'in-progress'].includes(state));
}

/** On the day of the world 26.04 is the newest with long-term support and 26.10 the newest of all. */
function hasReleaseUpgrade({ distribution, info, prompt }: WorldComputer): boolean {
  if (info?.distributor !== 'Ubuntu' || prompt === 'never') return false;
  return prompt === 'normal' ? distribution !== '26.10' : !['26.04', '26.10'].includes(distribution!);
}

type Pro = { attached?: unknown; expires?: unknown; contract?: { id?: string; products?: string[] } };

const proOf = (c: WorldComputer) => (c.pro ?? {}) as Pro;
const isAttached = (c: WorldComputer) => proOf(c).attached === true;
const isFreePro = (c: WorldComputer) => proOf(c).contract?.products?.includes('free') ?? false;
const contractOf = (id: string | undefined) => CONTRACTS.find((contract) => contract.id === id);
const isFreeContract = (c: WorldComputer, id: string) => contractOf(id)!.free === (c.account === 0);
const isUnlicensed = (c: WorldComputer) => !isAttached(c) && c.license === null && c.contracts.length === 0;

const LICENSE_TYPES: Readonly<Record<string, (c: WorldComputer) => boolean>> = {
  unlicensed: isUnlicensed,
  legacy: (c) => c.license !== null,
  pro: (c) => (isAttached(c) && !isFreePro(c)) || c.contracts.some((id) => !isFreeContract(c, id)),
  free_pro: (c) => (isAttached(c) && isFreePro(c)) || c.contracts.some((id) => isFreeContract(c, id)),
};

/** Contracts of a computer and when they end, as imported for the account, or else as reported. */
function contractsOf(c: WorldComputer): Array<{ id: string | undefined; expires: Date | null }> {
  const endOf = (id: string | undefined) => {
    const days = contractOf(id)?.days ?? null;
    return days === null ? null : inDays(days + c.account);
  };
  const associated = c.contracts.map((id) => ({ id, expires: endOf(id) }));
  if (!isAttached(c)) return associated;
  const { contract, expires } = proOf(c);
  const reportedEnd = typeof expires === 'string' ? new Date(expires) : null;
  return [...associated, { id: contract?.id, expires: endOf(contract?.id) ?? reportedEnd }];
}

function isWithin(moment: Date | null, days: string): boolean {
  return moment !== null && moment >= NOW && (Number(days) > 100_000 || moment <= inDays(Number(days)));
}

/** Values that mean something to SQL, to patterns or to the language itself. */
export const NASTY = [
  "'",
  "' or 1=1 --",
  '; drop table computer',
  '/* */',
  '\\',
  '%',
  '_',
  '%00',
  '$$',
  '$1',
  'ʼ',
  'UNION SELECT 1',
  'OR',
  'NOT',
  '(',
  '東京',
  ' ',
];

const oneOf = (values: readonly string[]) => fc.constantFrom(...values, ...NASTY);
/** A piece of one of the texts, or something else. */
const partOf = (values: readonly string[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...values), fc.nat(8), fc.integer({ min: 1, max: 6 })).map(cut) },
    { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
  );
const cut = ([text, from, length]: [string, number, number]) => [...text].slice(from, from + length).join('');
const exactly = (...values: string[]) => fc.constantFrom(...values);
const days = fc.constantFrom('0', '5', '10', '11', '30', '31', '99', '1000', '99999999999999999999');
const swapCase = (value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.nat(2)).map(([text, how]) => [text, text.toUpperCase(), text.toLowerCase()][how]!);

function valuesOf(stored: StoredWorld): Readonly<Record<string, fc.Arbitrary<string>>> {
  const hostnames = NAMES.flatMap((name) => [name, `${name}.fleet.example`]);
  const annotation = fc
    .tuple(oneOf(KEYS), fc.option(partOf(TEXTS)))
    .map(([key, part]) => (part === null ? key : `${key}:${part}`));
  const profile = fc
    .tuple(fc.constantFrom(...PROFILE_TYPES), fc.constantFrom('0', '1', '2', '3', '99999999999'), fc.nat(2))
    .map(([type, id, status]) => `${type}:${id}${type === 'wsl' ? ['', ':compliant', ':noncompliant'][status] : ''}`);
  const usgIds = [...stored.usg.flatMap((profiles) => Object.values(profiles)), 0, 99_999_999_999].map(String);
  const usg = fc
    .tuple(fc.constantFrom('usg', 'security'), fc.constantFrom(...usgIds), fc.nat(3))
    .map(([type, id, status]) => `${type}:${id}${['', ':pass', ':fail', ':in-progress'][status]}`);
  const ids = [...stored.ids.map(String), '0', '007', '2147483648', '99999999999999999999'];
  const seats = stored.seats.flatMap((seat) => Object.values(seat).map(String));
  return {
    tag: oneOf(TAGS),
    hostname: swapCase(oneOf(hostnames)),
    title: swapCase(oneOf(NAMES)),
    distribution: swapCase(oneOf(['22.04', '24.04', 'noble', 'questing', '26.10', 'windows', '10.0 - 11.0'])),
    alert: exactly('package-upgrades', 'security-upgrades', 'package-reporter', 'computer-offline', 'computer-reboot'),
    'access-group': oneOf(Object.keys(GROUPS)),
    'access-group-recursive': oneOf(Object.keys(GROUPS)),
    id: fc.constantFrom(...ids),
    mac: swapCase(partOf(MACS)),
    ip: swapCase(partOf(ADDRESSES)),
    search: exactly('first', 'second', 'everything'),
    needs: exactly('reboot', 'license'),
    'license-id': oneOf([...seats, 'none', '0']),
    annotation,
    profile: fc.oneof(profile, usg),
    'release-upgrade': exactly('available'),
    'license-type': exactly('unlicensed', 'pro', 'free_pro', 'legacy'),
    contract: oneOf([...CONTRACTS.map(({ id }) => id), 'c-other']),
    'contract-expires-within-days': days,
    'license-expires-within-days': days,
    'has-pro-management': exactly('true', '1', 'YES', 'on', 'false', '0', 'No', 'off'),
    has: exactly('upgrade-profile'),
    'instance-id': oneOf(['i-1', 'i-2', 'null']),
    'instance-type': oneOf(['t3.small', 'null']),
    'ami-id': oneOf(['ami-1', 'null']),
    'availability-zone': oneOf(['zone-a', 'null']),
  };
}

/** Names of all selectors that the terms below draw from. */
export const SELECTOR_NAMES = Object.keys(valuesOf({ accounts: [0, 0], ids: [1], seats: [], usg: [] }));

/** One term with a keyword or any selector. */
export function aTerm(stored: StoredWorld): fc.Arbitrary<ReferenceTerm> {
  const selectors = Object.entries(valuesOf(stored)).map(([selector, value]) =>
    value.map((text): ReferenceTerm => ({ selector, value: text })),
  );
  const keyword = swapCase(partOf(NAMES)).map((value): ReferenceTerm => ({ selector: null, value }));
  return fc.oneof({ weight: 3, arbitrary: keyword }, ...selectors);
}

/** A query of up to four clauses of up to three factors. */
export function aQuery(term: fc.Arbitrary<ReferenceTerm>): fc.Arbitrary<ReferenceQuery> {
  const factor = fc.record({ nots: fc.nat(3), term });
  return fc.array(fc.array(factor, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
}

/** The form of a query where the language leaves a choice; one number for each choice, over and over. */
export const aForm = fc.array(fc.nat(11), { minLength: 1, maxLength: 8 });

/** The text of a query. */
export function queryText(query: ReferenceQuery, form: readonly number[]): string {
  let drawn = 0;
  const draw = (choices: readonly string[]) => choices[form[drawn++ % form.length]! % choices.length]!;
  const factors = (clause: ReferenceQuery[number]) =>
    clause
      .map(({ nots, term }) => `${`NOT${draw([' ', '  '])}`.repeat(nots)}${termText(term, draw)}`)
      .join(draw([' OR ', '  OR\t']));
  return query.map(factors).join(draw([' ', ' AND ', '\n']));
}

function termText({ selector, value }: ReferenceTerm, draw: (choices: readonly string[]) => string): string {
  const plain = value !== '' && !/[\s"]/.test(value);
  const escaped = (text: string) => text.replace(/["\\]/g, '\\$&');
  const quoted = `"${escaped(value)}"`;
  if (selector === null) {
    const keyword = plain && !value.includes(':') && !['AND', 'OR', 'NOT'].includes(value);
    return keyword ? draw([value, quoted, `"${escaped(value.slice(0, 1))}"${value.slice(1)}`]) : quoted;
  }
  const later = plain && !['AND', 'OR', 'NOT'].includes(value) ? [`${selector}: ${value}`] : [];
  return draw([
    ...(plain ? [`${selector}:${value}`] : []),
    `${selector}:${quoted}`,
    `${selector}: ${quoted}`,
    ...later,
  ]);
}
