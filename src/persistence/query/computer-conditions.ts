import type { CloudField, ComputerCriterion, ComputerQuery } from '../../domain/query/computer-query.ts';
import { containing } from '../database/sql.ts';
import { alertCondition } from './alert-conditions.ts';
import { ACCOUNT, Compilation, type Conditions, queryText, type SqlCondition } from './compilation.ts';
import { LICENSE_CONDITIONS } from './license-conditions.ts';
import { profileCondition } from './profile-conditions.ts';
import { addressCondition, distributionCondition, releaseUpgradeCondition } from './system-conditions.ts';

/** Parsed saved searches by name: all that a query uses. They do not use others. */
export type SavedQueries = ReadonlyMap<string, ComputerQuery>;

export interface ComputerSelection {
  query: ComputerQuery;
  searches: SavedQueries;
  now: Date;
}

/** SQL over `c` of `computer`, never null: names and ids of an account, but `c` is not restricted to it. */
export function compileComputerQuery({ query, searches, now }: ComputerSelection, accountId: number): SqlCondition {
  const compilation = new Compilation({ accountId, now });
  const text = computersCondition(query, compilation, searches);
  return { text, values: compilation.values };
}

/** As {@link compileComputerQuery}, as a part of a larger condition. */
export function computersCondition(query: ComputerQuery, compilation: Compilation, searches: SavedQueries): string {
  return queryText(
    query,
    (criterion) => (CONDITIONS[criterion.kind] as AnyCondition)(criterion, compilation, searches),
    (condition) => `not (${condition})`,
  );
}

type AnyCondition = (criterion: ComputerCriterion, compilation: Compilation, searches: SavedQueries) => string;

const NO_SEARCHES: SavedQueries = new Map();

const CONDITIONS: Conditions<ComputerCriterion, [searches: SavedQueries]> = {
  ...LICENSE_CONDITIONS,
  keyword({ text }, compilation) {
    const pattern = compilation.value(containing(text), 'text');
    return `(lower(c.hostname) like lower(${pattern}) or lower(c.title) like lower(${pattern}))`;
  },
  hostname: ({ text }, compilation) => `lower(c.hostname) = lower(${compilation.value(text, 'text')})`,
  title: ({ text }, compilation) => `lower(c.title) = lower(${compilation.value(text, 'text')})`,
  tag: ({ text }, compilation) => `c.tags @> array[${compilation.value(text, 'text')}]`,
  /** With `part`, the value contains it. */
  annotation({ key, part }, compilation) {
    const name = compilation.value(key, 'text');
    if (part === null) return `c.annotations ? ${name}`;
    const found = `strpos(c.annotations ->> ${name}, ${compilation.value(part, 'text')}) > 0`;
    return `(c.annotations ? ${name} and coalesce(${found}, false))`;
  },
  id: ({ id }, compilation) => `c.id = ${compilation.value(id, 'int')}`,
  'access-group'({ name, recursive }, compilation) {
    const root = `select id from access_group
    where account_id = ${ACCOUNT} and name = ${compilation.value(name, 'text')}`;
    if (!recursive) return `c.access_group_id = any(array(${root}))`;
    return `c.access_group_id = any(array(
    with recursive below as (${root} union select g.id from access_group g join below on g.parent_id = below.id)
    select id from below))`;
  },
  search: ({ text }, compilation, searches) => `(${computersCondition(searches.get(text)!, compilation, NO_SEARCHES)})`,
  alert: ({ name }) => alertCondition(name),
  profile: profileCondition,
  'upgrade-profile': () => `exists (select from computer_profile p where p.computer_id = c.id and p.type = 'upgrade')`,
  reboot: () => 'c.reboot_required',
  'release-upgrade': (_, compilation) => releaseUpgradeCondition(compilation),
  distribution: ({ text }, compilation) => distributionCondition(text, compilation),
  mac: ({ part }, compilation) => addressCondition('n.mac_address', part, compilation),
  ip: ({ part }, compilation) => addressCondition('n.ip_address', part, compilation),
  /** Null matches computers without a value. */
  cloud: ({ field, text }, compilation) =>
    `coalesce(${CLOUD_COLUMNS[field]}, '') = ${compilation.value(text ?? '', 'text')}`,
};

const CLOUD_COLUMNS: Readonly<Record<CloudField, string>> = {
  'instance-id': `c.cloud_instance_metadata ->> 'instance-id'`,
  'instance-type': `c.cloud_instance_metadata ->> 'instance-type'`,
  'ami-id': `c.cloud_instance_metadata ->> 'ami-id'`,
  'availability-zone': `c.cloud_init ->> 'availability_zone'`,
};
