import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

export const RULES_FILE = 'deploy/prometheus/alerts.yml';
export const CASES_FILE = 'deploy/prometheus/alerts.test.yml';
export const DASHBOARD_FILE = 'deploy/grafana/flotilla.json';

/** Every alert rule that is shipped. */
export function readAlertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as { groups: Array<{ rules: AlertRule[] }> };
  return groups.flatMap(({ rules }) => rules);
}

export interface Panel {
  title: string;
  type: string;
  datasource?: { uid: string };
  targets?: Array<{ expr: string }>;
}

/** The panels of the dashboard that is shipped, rows left out. */
export function readPanels(): Panel[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as { panels: Panel[] };
  return panels.filter(({ type }) => type !== 'row');
}

/** Names of metrics in a PromQL expression: words that are no function, label, keyword or text. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\boffset +\w+/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, ' ');
  const words = bare.matchAll(/[a-zA-Z_:][\w:]*(?! *[\w(]|\w)/g);
  return [...new Set([...words].map(([word]) => word))].filter((word) => !KEYWORDS.has(word));
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'by']);
