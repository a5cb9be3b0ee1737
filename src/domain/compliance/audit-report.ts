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

/** Letters of the results that count as passed. */
const PASSED = new Set<string>([RULE_RESULTS.pass, RULE_RESULTS.fixed]);
/** What could not be found out is not compliant, as in the default scoring of the format. */
const FAILED = new Set<string>([RULE_RESULTS.fail, RULE_RESULTS.error, RULE_RESULTS.unknown]);

/** How many rules passed and failed, by the letters of their results; the others do not apply. */
export function countLetters(results: string): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  for (const letter of results) {
    if (PASSED.has(letter)) passed += 1;
    else if (FAILED.has(letter)) failed += 1;
  }
  return { passed, failed };
}

/** Size of all texts of some rules, in UTF-16 units. */
export function textLength(rules: readonly AuditedRule[]): number {
  let length = 0;
  for (const { rule, title, identifiers, description, rationale } of rules) {
    length += rule.length + title.length + description.length + rationale.length + identifiers.join('').length;
  }
  return length;
}
