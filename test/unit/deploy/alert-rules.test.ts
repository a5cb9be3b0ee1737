import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CASES_FILE, metricsIn, readAlertRules, readPanels, RULES_FILE } from '../../support/stack/deploy-files.ts';

const rules = readAlertRules();

describe('alert rules', () => {
  it('have names of their own, a severity, texts and a page to read', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, for: duration, labels, annotations } of rules) {
      expect(alert).toMatch(/^Flotilla[A-Z]\w+$/);
      expect(duration, alert).toMatch(/^\d+[mh]$/);
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(5);
      expect(annotations.description.length, alert).toBeGreaterThan(20);
      expect(annotations.runbook_url, alert).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
    }
  });

  it('are each explained, and nothing else is', () => {
    const headings = [...readFileSync('docs/alerts.md', 'utf8').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    const shown = [...readFileSync('docs/alerts.md', 'utf8').matchAll(/```promql\n(.*)\n```/g)].map(([, text]) => text);
    expect(shown).toEqual(rules.map(({ expr }) => expr));
  });

  // Whether processes expose each metric is checked on a running stack: test/e2e/agents/seeing.test.ts.
  it('have the fields of a rule and nothing else, and balanced expressions', () => {
    for (const rule of rules) {
      expect(Object.keys(rule).sort(), rule.alert).toEqual(['alert', 'annotations', 'expr', 'for', 'labels']);
      expectBalanced(rule.expr);
    }
  });

  it('have a case each in which they fire and one in which they keep quiet', () => {
    const { tests } = parse(readFileSync(CASES_FILE, 'utf8')) as { tests: Array<{ name: string }> };
    const wanted = rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} keeps quiet`]);
    expect(tests.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  });

  it.for<[what: string, ...args: string[]]>([
    ['are rules to', 'check', 'rules', RULES_FILE],
    ['do in their cases what is expected, by', 'test', 'rules', CASES_FILE],
  ])('%s promtool where it is installed', async ([_what, ...args], { skip }) => {
    const { stdout } = await promisify(execFile)('promtool', args).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') skip('promtool is not installed');
      throw error;
    });
    expect(stdout).toContain('SUCCESS');
  });
});

describe('dashboard', () => {
  it('queries the data source that is chosen, in every panel, by balanced expressions', () => {
    const panels = readPanels();
    expect(panels.length).toBeGreaterThan(20);
    for (const { title, datasource, targets } of panels) {
      expect(datasource?.uid, title).toBe(`\${datasource}`);
      for (const { expr } of targets!) expectBalanced(expr);
    }
  });
});

function expectBalanced(expr: string): void {
  expect(metricsIn(expr).length, expr).toBeGreaterThan(0);
  for (const [open, close] of ['()', '{}', '[]']) {
    expect(expr.split(open!).length, expr).toBe(expr.split(close!).length);
  }
}

describe('metricsIn', () => {
  it('reports metrics from functions, labels and texts', () => {
    const expr = 'max by (le) (rate(a_total{b=~"c|d"}[5m])) > 0.1 * sum(e:f) or absent(g_seconds) and 5 > h offset 1h';
    expect(metricsIn(expr)).toEqual(['a_total', 'e:f', 'g_seconds', 'h']);
  });
});
