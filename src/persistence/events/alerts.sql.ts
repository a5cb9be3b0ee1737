import { type AlertName, PROFILE_ALERT, WEBHOOK_ALERT } from '../../domain/events/alerts.ts';
import type { Sql } from '../database/sql.ts';
import { ALERT_RULES, type AlertRule } from '../query/alert-conditions.ts';

interface AlertScope {
  accountId: number;
  groups: readonly number[] | null;
  personId: number;
  /** Whether the person sees webhooks. */
  webhooks: boolean;
}

export interface AlertRow {
  id: number;
  name: AlertName | typeof PROFILE_ALERT | typeof WEBHOOK_ALERT;
  subjects: number;
  /** Those with the alert raised after the person last dismissed it. */
  fresh: number;
  activation_time: Date | null;
}

/** All alerts of the account in declaration order, those about profiles and webhooks last, counted by one statement. */
export async function readAlerts(db: Sql, scope: AlertScope): Promise<AlertRow[]> {
  return db.query<AlertRow>(READ, scope);
}

/** Hides an alert from a person until it is raised on a computer later, by the database's clock. */
export async function dismissAlert(tx: Sql, alertId: number, personId: number): Promise<void> {
  for (const alerts of ['alert', 'profile_alert', 'webhook_alert']) {
    await tx.query(
      `insert into ${alerts}_dismissal (alert_id, person_id, dismissed_at) select id, :personId, now() from ${alerts} where id = :alertId
       on conflict (alert_id, person_id) do update set dismissed_at = excluded.dismissed_at`,
      { alertId, personId },
    );
  }
}

/** Tables with one row per computer need no `distinct`. */
const ONE_PER_COMPUTER: ReadonlySet<AlertRule['from']> = new Set(['computer_status s', 'computer_contact contact']);

function counted({ name, from, computer, active, since }: AlertRule): string {
  const what = ONE_PER_COMPUTER.has(from) ? '*' : 'distinct c.id';
  const fresh = `(d.dismissed_at is null or ${since} > d.dismissed_at)`;
  return `
    select l.id, l.name, count(${what})::int as subjects, count(${what}) filter (where ${fresh})::int as fresh,
      min(${since}) filter (where ${fresh}) as activation_time
    from listed l left join dismissed d on d.alert_id = l.id
    cross join ${from} join computer c on c.id = ${computer}
    where l.name = '${name}' and ${active} and c.account_id = :accountId and c.state = 'approved' and not c.archived
      and (:groups::int[] is null or c.access_group_id = any(:groups))
    group by l.id, l.name`;
}

const ORPHANED = `
  select l.id, l.name, count(*)::int as subjects, count(*) filter (where o.fresh)::int as fresh,
    min(o.since) filter (where o.fresh) as activation_time
  from listed l cross join lateral (
    select s.since, d.dismissed_at is null or s.since > d.dismissed_at as fresh
    from (
      select p.creator_id, p.created_at as made_at, s.access_group_id
      from script_profile p join script s on s.id = p.script_id where p.account_id = :accountId and not p.archived
      union all
      select creator_id, creation_time, access_group_id from usg_profile where account_id = :accountId and not archived) p
    left join former_member f on f.account_id = :accountId and f.person_id = p.creator_id
    cross join lateral (select coalesce(f.left_at, p.made_at) as since) s
    left join dismissed d on d.alert_id = l.id
    where (:groups::int[] is null or p.access_group_id = any(:groups))
      and not exists (select from membership m where m.account_id = :accountId and m.person_id = p.creator_id)) o
  where l.name = '${PROFILE_ALERT}'
  group by l.id, l.name`;

const PAUSED_WEBHOOKS = `
  select l.id, l.name, count(*)::int as subjects,
    count(*) filter (where d.dismissed_at is null or w.alert_since > d.dismissed_at)::int as fresh,
    min(w.alert_since) filter (where d.dismissed_at is null or w.alert_since > d.dismissed_at) as activation_time
  from listed l join webhook w on w.account_id = :accountId and w.alert_since is not null
  left join dismissed d on d.alert_id = l.id
  where l.name = '${WEBHOOK_ALERT}' and :webhooks::boolean
  group by l.id, l.name`;

const READ = `
  with listed as (
    select id, name from alert where account_id = :accountId
    union all
    select id, '${PROFILE_ALERT}' from profile_alert where account_id = :accountId
    union all
    select id, '${WEBHOOK_ALERT}' from webhook_alert where account_id = :accountId
  ), dismissed as (
    select alert_id, dismissed_at from alert_dismissal
    where person_id = :personId and alert_id in (select id from listed)
    union all
    select alert_id, dismissed_at from profile_alert_dismissal
    where person_id = :personId and alert_id in (select id from listed)
    union all
    select alert_id, dismissed_at from webhook_alert_dismissal
    where person_id = :personId and alert_id in (select id from listed)
  ), standing as (
    ${[...ALERT_RULES.map(counted), ORPHANED, PAUSED_WEBHOOKS].join(' union all ')}
  )
  select l.id, l.name, coalesce(s.subjects, 0) as subjects, coalesce(s.fresh, 0) as fresh, s.activation_time
  from listed l left join standing s on s.id = l.id order by l.id`;
