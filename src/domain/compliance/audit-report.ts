export const RULE_SEVERITIES = ['unknown', 'info', 'low', 'medium', 'high'] as const;
export type RuleSeverity = (typeof RULE_SEVERITIES)[number];

/** Rule results by their names in reports, with the letters that are stored. `notselected` rules are omitted. */
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

export interface AuditedRule {
  rule: string;
  severity: RuleSeverity;
  title: string;
  identifiers: readonly string[];
  description: string;
  rationale: string;
  result: RuleResult;
}

export type AuditReading = { rules: AuditedRule[] } | { reason: string };

const PASSED = new Set<string>([RULE_RESULTS.pass, RULE_RESULTS.fixed]);
/** Inconclusive results count as failed, as in the default scoring of XCCDF. */
const FAILED = new Set<string>([RULE_RESULTS.fail, RULE_RESULTS.error, RULE_RESULTS.unknown]);

/** Counts passed and failed rules by the letters of their results; other results do not apply. */
export function countLetters(results: string): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  for (const letter of results) {
    if (PASSED.has(letter)) passed += 1;
    else if (FAILED.has(letter)) failed += 1;
  }
  return { passed, failed };
}

/** In UTF-16 units. */
export function textLength(
  rules: Iterable<Pick<AuditedRule, 'title' | 'identifiers' | 'description' | 'rationale'> & { rule?: string }>,
): number {
  let length = 0;
  for (const { rule = '', title, identifiers, description, rationale } of rules) {
    length += rule.length + title.length + description.length + rationale.length + identifiers.join('').length;
  }
  return length;
}
