import { createHash } from 'node:crypto';
import { type AuditedRule, textLength } from '../../../domain/compliance/audit-report.ts';
import type { CatalogueRule, CatalogueRuleSet } from '../../../persistence/compliance/usg-rules.repository.ts';

const MAX_SETS = 16;
/** Maximum text size per set, in UTF-16 units. */
const MAX_CHARS = 8 * 1024 * 1024;

/** The rules of a report as stored, without results. */
export function ruleSetOf(rules: readonly AuditedRule[]): CatalogueRuleSet {
  const entries = rules.map(toCatalogueRule);
  const hash = createHash('sha256');
  for (const { digest } of entries) hash.update(digest);
  return { digest: hash.digest(), rules: entries };
}

function toCatalogueRule({ result: _, ...rule }: AuditedRule): CatalogueRule {
  const { severity, title, identifiers, description, rationale } = rule;
  const text = JSON.stringify([rule.rule, severity, title, identifiers, description, rationale]);
  return { ...rule, digest: createHash('sha256').update(text).digest() };
}

/** Rule sets of the latest reports, by hexadecimal digest. */
export class KnownRuleSets {
  #sets: ReadonlyMap<string, CatalogueRuleSet> = new Map();

  get all(): ReadonlyMap<string, CatalogueRuleSet> {
    return this.#sets;
  }

  /** Adds a set and may drop the oldest. */
  add(set: CatalogueRuleSet, rules: readonly AuditedRule[]): void {
    const digest = set.digest.toString('hex');
    if (this.#sets.has(digest) || textLength(rules) > MAX_CHARS) return;
    this.#sets = new Map([...this.#sets, [digest, set] as const].slice(-MAX_SETS));
  }
}
