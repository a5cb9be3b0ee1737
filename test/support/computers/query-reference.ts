import {
  CONTRACTS,
  GROUPS,
  inDays,
  NOW,
  SEATS,
  USG_PROFILES,
  type UsgProfileName,
  type WorldComputer,
} from './query-world.ts';
import type { StoredWorld } from './query-world-rows.ts';

/** One term of a query: a keyword, or a selector with what stands behind its colon. */
export interface ReferenceTerm {
  /** Null for a keyword. */
  selector: string | null;
  value: string;
}

/** A query as its meaning: all clauses, one factor of each, negated as often as `nots` says. */
export type ReferenceQuery = ReadonlyArray<ReadonlyArray<{ nots: number; term: ReferenceTerm }>>;

/** What the names and ids of a query mean. */
export interface ReferenceScope {
  stored: StoredWorld;
  account: 0 | 1;
  searches: ReadonlyMap<string, ReferenceQuery>;
}

/** Tells, by the words of the specification alone, whether a computer fulfils a query. */
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
const toldOf = (id: string | undefined) => CONTRACTS.find((contract) => contract.id === id);
const isFreeContract = (c: WorldComputer, id: string) => toldOf(id)!.free === (c.account === 0);
const isUnlicensed = (c: WorldComputer) => !isAttached(c) && c.license === null && c.contracts.length === 0;

const LICENSE_TYPES: Readonly<Record<string, (c: WorldComputer) => boolean>> = {
  unlicensed: isUnlicensed,
  legacy: (c) => c.license !== null,
  pro: (c) => (isAttached(c) && !isFreePro(c)) || c.contracts.some((id) => !isFreeContract(c, id)),
  free_pro: (c) => (isAttached(c) && isFreePro(c)) || c.contracts.some((id) => isFreeContract(c, id)),
};

/** Contracts of a computer and when they end, as the account was told or else as reported. */
function contractsOf(c: WorldComputer): Array<{ id: string | undefined; expires: Date | null }> {
  const toldEnd = (id: string | undefined) => {
    const days = toldOf(id)?.days ?? null;
    return days === null ? null : inDays(days + c.account);
  };
  const associated = c.contracts.map((id) => ({ id, expires: toldEnd(id) }));
  if (!isAttached(c)) return associated;
  const { contract, expires } = proOf(c);
  const reportedEnd = typeof expires === 'string' ? new Date(expires) : null;
  return [...associated, { id: contract?.id, expires: toldEnd(contract?.id) ?? reportedEnd }];
}

function isWithin(moment: Date | null, days: string): boolean {
  return moment !== null && moment >= NOW && (Number(days) > 100_000 || moment <= inDays(Number(days)));
}
