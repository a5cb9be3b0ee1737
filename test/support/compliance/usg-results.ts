import { createHash } from 'node:crypto';
import { type CatalogueRule, upsertRuleSets } from '../../../src/persistence/compliance/usg-rules.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';

/** A rule with texts that need no attention. */
export function aRule(rule: string, over: Partial<Omit<CatalogueRule, 'digest'>> = {}): CatalogueRule {
  const texts = {
    rule,
    severity: 'high',
    title: `Title of ${rule}`,
    identifiers: ['CCE-1', 'NIST AC-2'],
    description: `Description of ${rule}`,
    rationale: `Rationale of ${rule}`,
    ...over,
  };
  return { ...texts, digest: createHash('sha256').update(JSON.stringify(texts)).digest() };
}

export interface AuditedRun {
  accountId: number;
  profileId: number;
  startedAt: Date;
  /** Letters of results by computer, in the order of `rules`; null: no report came. */
  computers: ReadonlyMap<number, string | null>;
  rules: readonly CatalogueRule[];
}

/** A run that is over, as its audits left it. @returns its id */
export async function insertAuditedRun(db: Database, run: AuditedRun): Promise<number> {
  const { accountId, profileId, startedAt, rules } = run;
  const digest = createHash('sha256')
    .update(Buffer.concat(rules.map((rule) => rule.digest)))
    .digest();
  return db.transaction(async (tx) => {
    const [set] = await upsertRuleSets(tx, accountId, [{ digest, rules }]);
    const [row] = await tx.query<{ id: number }>(
      `with parent as (
         insert into activity (account_id, type, summary, status, creation_time, completion_time, parameters)
         values ($1, 'UsgActivity', 'USG audit', 'succeeded', $3, $3, '{}') returning id)
       insert into usg_run (account_id, profile_id, activity_id, started_at, computer_count, passing_count, changed_at)
       select $1, $2, id, $3, $4, $4, $3 from parent returning id`,
      [accountId, profileId, startedAt, run.computers.size],
    );
    for (const [computerId, letters] of run.computers) {
      const counts = [/[px]/g, /[feu]/g].map((kind) => letters?.match(kind)?.length ?? 0);
      await tx.query(
        `insert into usg_audit (computer_id, profile_id, run_id, state, reported_at, passed_count, failed_count,
           rule_set_id, results)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          computerId,
          profileId,
          row!.id,
          counts[1] === 0 && letters !== null ? 'pass' : 'fail',
          letters === null ? null : startedAt,
          ...counts,
          letters === null ? null : set,
          letters,
        ],
      );
    }
    return row!.id;
  });
}
