import { digitOf, type MapColor, type MapGrouping } from '../../domain/computers/map-colors.ts';
import { ALERT_NAMES, type AlertName } from '../../domain/events/alerts.ts';
import type { Sql } from '../database/sql.ts';
import { alertRule } from '../query/alert-conditions.ts';
import { type ComputerSelection, compileComputerQuery } from '../query/computer-conditions.ts';
import { inScope, scopedProfiles } from '../query/profile-scope.sql.ts';
import { VISIBLE } from './computer-columns.ts';
import type { ComputerScope } from './computers.sql.ts';

interface MapChoice {
  color: MapColor;
  grouping: MapGrouping;
  rootOnly: boolean;
}

interface MapFilter extends ComputerScope, MapChoice {
  selection: ComputerSelection;
  /** Whose results the colour `activity` shows. */
  activityId: number | null;
  /** The number of cells after which reading stops. */
  most: number;
}

export interface MapGroupRow {
  /** Of the access group, or the tag; null for computers without. */
  name: string | null;
  title: string | null;
  cells: number;
  /** Computers that are in no group before. */
  computers: number;
  /** Ascending, with commas. */
  ids: string;
  /** A digit for each of the ids. */
  digits: string;
}

/** The groups by title, those without a name last. A computer has a cell for each of its groups. */
export async function readComputerMap(sql: Sql, filter: MapFilter): Promise<MapGroupRow[]> {
  const { accountId, groups, selection, activityId, most, color, grouping, rootOnly } = filter;
  const condition = compileComputerQuery(selection, accountId);
  const values = { groups, activityId, most, ...condition.values };
  return sql.query<MapGroupRow>(mapStatement({ color, grouping, rootOnly }, condition.text), values);
}

function mapStatement({ color, grouping, rootOnly }: MapChoice, condition: string): string {
  const { name, title, join, isFirst } = GROUPINGS[grouping];
  const { digit, joins = '' } = COLORS[color];
  return `
with ${PROFILES}, cell as materialized (
  select c.id, ${name} as name, ${title} as title, ${isFirst} as is_first, ${digit} as digit
  from computer c ${join} ${joins}
  where ${VISIBLE} and not c.archived and ${condition} ${rootOnly ? 'and c.parent_id is null' : ''}
  limit :most::int
)
select name, title, count(*)::int as cells, (count(*) filter (where is_first))::int as computers,
  string_agg(id::text, ',' order by id) as ids, string_agg(digit::text, '' order by id) as digits
from cell group by name, title order by lower(title) nulls last, name`;
}

const GROUPINGS: Readonly<Record<MapGrouping, { name: string; title: string; join: string; isFirst: string }>> = {
  none: { name: 'null::text', title: 'null::text', join: '', isFirst: 'true' },
  access_group: {
    name: 'g.name',
    title: 'g.title',
    join: 'join access_group g on g.id = c.access_group_id',
    isFirst: 'true',
  },
  tag: {
    name: 't.name',
    title: 't.name',
    join: 'left join lateral unnest(c.tags) with ordinality as t(name, nth) on true',
    isFirst: 'coalesce(t.nth = 1, true)',
  },
};

/** Active USG profiles; not read unless the colour is `compliance`. */
const PROFILES = `profile as materialized (${scopedProfiles('usg')} where p.account_id = :accountId and not p.archived)`;

const CONTACT = 'left join computer_contact contact on contact.computer_id = c.id';
const STATUS = 'left join computer_status s on s.computer_id = c.id';
const OWN_TABLES = ['computer_contact contact', 'computer_status s'];

/** Over `c` with its contact and status: an alert is active. Below `exists` PostgreSQL reads one or all, as is cheaper. */
function hasAlert(name: AlertName): string {
  const { from, computer, active } = alertRule(name);
  if (OWN_TABLES.includes(from)) return `(${active}) is true`;
  return `exists (select from ${from} where ${computer} = c.id and ${active})`;
}

/** Nearly every computer has ordinary upgrades; the other two are states of their own. */
const NOT_COUNTED: readonly AlertName[] = ['package-upgrades', 'computer-offline', 'computer-reboot'];
const OTHER_ALERTS = ALERT_NAMES.filter((name) => !NOT_COUNTED.includes(name));

const state = (name: Parameters<typeof digitOf<'state'>>[1]) => digitOf('state', name);
const contact = (name: Parameters<typeof digitOf<'contact'>>[1]) => digitOf('contact', name);
const compliance = (name: Parameters<typeof digitOf<'compliance'>>[1]) => digitOf('compliance', name);
const activity = (name: Parameters<typeof digitOf<'activity'>>[1]) => digitOf('activity', name);

const LAST_CONTACT = 'greatest(contact.last_ping_time, contact.last_exchange_time)';

/** SQL of the digit over `c`, and what has to be joined for it. */
const COLORS: Readonly<Record<MapColor, { digit: string; joins?: string }>> = {
  state: {
    digit: `case when ${hasAlert('computer-offline')} then ${state('offline')}
      when ${OTHER_ALERTS.map(hasAlert).join('\n or ')} then ${state('has-alerts')}
      when ${hasAlert('computer-reboot')} then ${state('needs-restart')} else ${state('fine')} end`,
    joins: `${CONTACT} ${STATUS}`,
  },
  contact: {
    digit: `case when ${LAST_CONTACT} is null then ${contact('never')}
      when ${LAST_CONTACT} > now() - interval '5 minutes' then ${contact('minutes')}
      when ${LAST_CONTACT} > now() - interval '1 hour' then ${contact('hour')}
      when ${LAST_CONTACT} > now() - interval '1 day' then ${contact('day')}
      when ${LAST_CONTACT} > now() - interval '7 days' then ${contact('week')}
      else ${contact('longer')} end`,
    joins: CONTACT,
  },
  // By key: a computer has many audits, of which the last with a result counts for each profile.
  compliance: {
    digit: `coalesce((
      select max(case u.state when 'fail' then ${compliance('fail')} else ${compliance('pass')} end)
      from profile p cross join lateral (
        select state from usg_audit u
        where u.computer_id = c.id and u.profile_id = p.id and u.state in ('pass', 'fail')
        order by u.run_id desc limit 1) u
      where ${inScope('c', 'p')}), ${compliance('no-result')})`,
  },
  activity: {
    digit: `coalesce(done.digit, ${activity('none')})`,
    joins: `left join (
      select k.computer_id, max(case k.status
        when 'failed' then ${activity('failed')} when 'canceled' then ${activity('canceled')}
        when 'succeeded' then ${activity('succeeded')} when 'delivered' then ${activity('delivered')}
        else ${activity('waiting')} end) as digit
      from activity k where (k.id = :activityId::int or k.parent_id = :activityId::int) and k.computer_id is not null
      group by k.computer_id) done on done.computer_id = c.id`,
  },
};
