import type { Sql } from '../database/sql.ts';

export interface CatalogueRule {
  digest: Buffer;
  rule: string;
  severity: string;
  title: string;
  identifiers: readonly string[];
  description: string;
  rationale: string;
}

export interface CatalogueRuleSet {
  digest: Buffer;
  rules: readonly CatalogueRule[];
}

/** Ids of rule sets in the given order, locked against deletion; missing ones are inserted. Concurrent callers wait. */
export async function upsertRuleSets(tx: Sql, accountId: number, sets: readonly CatalogueRuleSet[]): Promise<number[]> {
  const known = await findRuleSets(tx, accountId, sets);
  const missing = sets.filter(({ digest }) => !known.has(digest.toString('hex')));
  if (missing.length > 0) {
    await storeRules(tx, accountId, missing);
    for (const { digest, rules } of missing) {
      await tx.query(INSERT_SET, { accountId, digest, digests: rules.map((rule) => rule.digest) });
    }
    for (const [digest, id] of await findRuleSets(tx, accountId, missing)) known.set(digest, id);
  }
  return sets.map(({ digest }) => known.get(digest.toString('hex'))!);
}

async function findRuleSets(tx: Sql, accountId: number, sets: readonly CatalogueRuleSet[]) {
  const digests = sets.map(({ digest }) => digest);
  const rows = await tx.query<{ id: number; digest: Buffer }>(FIND_SETS, { accountId, digests });
  return new Map(rows.map(({ id, digest }) => [digest.toString('hex'), id]));
}

async function storeRules(tx: Sql, accountId: number, sets: readonly CatalogueRuleSet[]): Promise<void> {
  const byDigest = new Map(sets.flatMap(({ rules }) => rules.map((rule) => [rule.digest.toString('hex'), rule])));
  const rules = [...byDigest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([digest, rule]) => ({ ...rule, digest }));
  await tx.query(INSERT_RULES, { accountId, rules: JSON.stringify(rules) });
}

const FIND_SETS = `
  select id, digest from usg_rule_set where account_id = :accountId and digest = any(:digests::bytea[]) order by id for key share`;

const INSERT_RULES = `
  insert into usg_rule (account_id, digest, rule, severity, title, identifiers, description, rationale)
  select :accountId, decode(digest, 'hex'), rule, severity, title, identifiers, description, rationale
  from jsonb_to_recordset(:rules::jsonb)
    as r(digest text, rule text, severity text, title text, identifiers text[], description text, rationale text)
  order by digest
  on conflict (account_id, digest) do nothing`;

const INSERT_SET = `
  insert into usg_rule_set (account_id, digest, rule_ids)
  select :accountId, :digest, array_agg(r.id order by d.place)
  from unnest(:digests::bytea[]) with ordinality as d(digest, place)
  join usg_rule r on r.account_id = :accountId and r.digest = d.digest
  on conflict (account_id, digest) do nothing`;
