import { createHash } from 'node:crypto';
import { type CatalogueRule, upsertRuleSets } from '../../../src/persistence/compliance/usg-rules.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { benchmarkRules, describeRule } from '../../simulator/operations/usg-benchmark.ts';

/** Runs of a profile to generate; equal options generate equal results. */
export interface AuditsOptions {
  accountId: number;
  profileId: number;
  rules: number;
  startedAt: readonly Date[];
}

/**
 * Generates finished runs of a profile on every computer of its account: two of five computers pass every rule, the
 * others fail some, fewer from run to run. One statement per run.
 * @returns computers of each run
 */
export async function generateAudits(db: Database, options: AuditsOptions): Promise<number> {
  const { accountId, profileId, startedAt } = options;
  const computers = await db.transaction(async (tx) => {
    const setId = await keepRules(tx, accountId, options.rules);
    let rows = 0;
    for (const [nth, started] of startedAt.entries()) {
      const [run] = await tx.query<{ id: number }>(INSERT_RUN, [accountId, profileId, started]);
      const fails = 0.12 / (nth + 1);
      await tx.query(INSERT_AUDITS, [accountId, profileId, run!.id, started, setId, options.rules, fails]);
      const [counted] = await tx.query<{ rows: number }>(COUNT, [run!.id]);
      rows = counted!.rows;
    }
    return rows;
  });
  await db.query('vacuum analyze usg_audit, usg_run, usg_rule, usg_rule_set');
  return computers;
}

/** Stores the simulated fleet's benchmark. @returns id of its rule set */
async function keepRules(tx: Sql, accountId: number, count: number): Promise<number> {
  const rules = benchmarkRules(count).map((rule, place): CatalogueRule => {
    const { title, description, subject, rationale, reference, ident } = describeRule(rule, place);
    const texts = {
      rule: `xccdf_org.ssgproject.content_rule_${rule.name}`,
      severity: rule.severity,
      title,
      identifiers: [reference, ident],
      description: `${description} ${subject}, as "${rule.name}" says.`,
      rationale,
    };
    return { ...texts, digest: digest(JSON.stringify(texts)) };
  });
  const [id] = await upsertRuleSets(tx, accountId, [{ digest: digest(JSON.stringify(rules)), rules }]);
  return id!;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const INSERT_RUN = `
  with parent as (
    insert into activity (account_id, type, summary, status, creation_time, completion_time, parameters)
    values ($1, 'UsgActivity', 'USG audit', 'succeeded', $3, $3, '{}') returning id)
  insert into usg_run (account_id, profile_id, activity_id, started_at, changed_at)
  select $1, $2, id, $3, $3 from parent returning id`;

// One random order of two thousand results is created; each computer takes them from its own offset on.
const INSERT_AUDITS = `
  with pool as materialized (
    select string_agg(case when hashint4(n * 7919 + $3::int) & 1023 < 1024 * $7::float8 then 'f'
      when n % 97 = 0 then 'n' else 'p' end, '') as letters from generate_series(1, 2000 + $6::int) n
  ), found as materialized (
    select c.id, case when c.id % 5 < 2 then translate(x.letters, 'f', 'p') else x.letters end as letters
    from computer c cross join pool
    cross join lateral (select substr(pool.letters, 1 + abs(hashint4(c.id + $3::int)) % 2000, $6::int) as letters) x
    where c.account_id = $1 and c.state = 'approved'
  )
  insert into usg_audit (computer_id, profile_id, run_id, state, reported_at, passed_count, failed_count, rule_set_id, results)
  select id, $2, $3, case when strpos(letters, 'f') = 0 then 'pass' else 'fail' end,
    $4::timestamptz + make_interval(secs => id % 900), length(translate(letters, 'fn', '')),
    length(translate(letters, 'pn', '')), $5, letters
  from found order by id`;

const COUNT = `
  update usg_run r set computer_count = n.rows, passing_count = n.passing, failing_count = n.rows - n.passing
  from (select count(*)::int as rows, count(*) filter (where state = 'pass')::int as passing
    from usg_audit where run_id = $1) n
  where r.id = $1 returning n.rows`;
