import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type AuditedRule, textLength } from '../../../domain/compliance/audit-report.ts';
import type { CatalogueRule, CatalogueRuleSet } from '../../../persistence/compliance/usg-rules.sql.ts';

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

export type RuleSetCache = LRUCache<string, CatalogueRuleSet>;

/** Rule sets of the latest reports, by hexadecimal digest. */
export const createRuleSetCache = (): RuleSetCache =>
  new LRUCache({ max: MAX_SETS, maxEntrySize: MAX_CHARS, sizeCalculation: ({ rules }) => textLength(rules) + 1 });
