export const RULE_SEVERITIES = ['unknown', 'info', 'low', 'medium', 'high'] as const;
export type RuleSeverity = (typeof RULE_SEVERITIES)[number];

/** Results of a rule as reports name them, each with the letter it is kept as. `notselected` rules are not kept. */
export const RULE_RESULTS = {
  pass: 'p',
  fixed: 'x',
  fail: 'f',
  error: 'e',
  unknown: 'u',
  notapplicable: 'n',
  notchecked: 'c',
  informational: 'i',
} as const;
export type RuleResult = keyof typeof RULE_RESULTS;

/** What a report says of one rule. */
export interface AuditedRule {
  /** Its id in the benchmark. */
  rule: string;
  severity: RuleSeverity;
  title: string;
  /** Identifiers and references, in the order of the benchmark. */
  identifiers: readonly string[];
  description: string;
  rationale: string;
  result: RuleResult;
}

/** A report as rules in its order, or why it cannot be used. */
export type AuditReading = { rules: AuditedRule[] } | { reason: string };

const PASSED: ReadonlySet<RuleResult> = new Set(['pass', 'fixed']);
/** What could not be found out is not compliant, as in the default scoring of the format. */
const FAILED: ReadonlySet<RuleResult> = new Set(['fail', 'error', 'unknown']);

/** How many rules passed and failed; the others do not apply. */
export function countResults(rules: ReadonlyArray<Pick<AuditedRule, 'result'>>): { passed: number; failed: number } {
  return {
    passed: rules.filter(({ result }) => PASSED.has(result)).length,
    failed: rules.filter(({ result }) => FAILED.has(result)).length,
  };
}

/** Size of all texts of some rules, in UTF-16 units. */
export function textLength(rules: readonly AuditedRule[]): number {
  let length = 0;
  for (const { rule, title, identifiers, description, rationale } of rules) {
    length += rule.length + title.length + description.length + rationale.length + identifiers.join('').length;
  }
  return length;
}
