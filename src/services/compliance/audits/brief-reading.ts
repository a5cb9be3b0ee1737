import { createHash } from 'node:crypto';
import { type AuditReading, RULE_RESULTS } from '../../../domain/compliance/audit-report.ts';
import { BenchmarkCache } from './benchmark-cache.ts';
import { catchInvalid, readContent } from './read-report.ts';
import { ruleSetOf } from './rule-set.ts';

/** A report on a rule set that the caller already has. */
export interface BriefReading {
  /** Hexadecimal digest of the set. */
  set: string;
  /** Letters of {@link RULE_RESULTS}, in the order of the set. */
  results: string;
}

const MAX_SELECTIONS = 64;

/** For rule sets that the caller has, it returns results only: copying the texts would cost as much as parsing. */
export function createBriefReader(): (report: Uint8Array, sets: readonly string[]) => AuditReading | BriefReading {
  const benchmarks = new BenchmarkCache();
  const selections = new Map<string, string>();
  return (report, sets) =>
    catchInvalid(() => {
      const { content, benchmark } = readContent(report, benchmarks);
      const selected = content.selection();
      const selection = selected === null ? null : digest(`${benchmark}\n${selected}`);
      const known = selection === null ? undefined : selections.get(selection);
      if (known !== undefined && sets.includes(known)) {
        return {
          set: known,
          results: content
            .results()
            .map((result) => RULE_RESULTS[result])
            .join(''),
        };
      }
      const rules = content.rules();
      if (selection !== null && known === undefined) {
        selections.set(selection, ruleSetOf(rules).digest.toString('hex'));
        if (selections.size > MAX_SELECTIONS) selections.delete(selections.keys().next().value!);
      }
      return { rules };
    });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
