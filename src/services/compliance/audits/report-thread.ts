import { LRUCache } from 'lru-cache';
import { type AuditReading, RULE_RESULTS } from '../../../domain/compliance/audit-report.ts';
import { catchInvalid, createBenchmarkCache, digestOf, readContent } from './read-report.ts';
import { ruleSetOf } from './rule-set.ts';

export interface BriefReading {
  set: string;
  /** Letters of {@link RULE_RESULTS}, in the order of the set. */
  results: string;
}

const MAX_SELECTIONS = 64;

/** For rule sets that the caller has, it returns results only: copying the texts would cost as much as parsing. */
export function createBriefReader(): (report: Uint8Array, sets: readonly string[]) => AuditReading | BriefReading {
  const benchmarks = createBenchmarkCache();
  const selections = new LRUCache<string, string>({ max: MAX_SELECTIONS });
  return (report, sets) =>
    catchInvalid(() => {
      const { content, benchmark } = readContent(report, benchmarks);
      const selected = content.selection();
      const selection = selected && digestOf(`${benchmark}\n${selected}`);
      const known = selection ? selections.get(selection) : undefined;
      if (known !== undefined && sets.includes(known)) {
        const letters = content.results().map((result) => RULE_RESULTS[result]);
        return { set: known, results: letters.join('') };
      }
      const rules = content.rules();
      if (selection && known === undefined) selections.set(selection, ruleSetOf(rules).digest.toString('hex'));
      return { rules };
    });
}

export interface ReadingRequest {
  report: Uint8Array;
  sets: readonly string[];
}

const read = createBriefReader();

export default ({ report, sets }: ReadingRequest) => read(report, sets);

/** Resolves in the calling thread once this one has started. */
export const start = () => null;
