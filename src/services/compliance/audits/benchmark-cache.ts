import { createHash } from 'node:crypto';
import type { BenchmarkHead, Definition } from './report-content.ts';

const MAX_HEADS = 8;
/** Maximum text size per benchmark, in UTF-16 units. */
const MAX_CHARS = 8 * 1024 * 1024;

/** Parsed benchmarks by digest. Most of a report is its benchmark, the same for all computers of a release. */
export class BenchmarkCache {
  readonly #heads = new Map<string, BenchmarkHead>();

  find(name: string): BenchmarkHead | null {
    return this.#heads.get(name) ?? null;
  }

  /** Adds a benchmark and may drop the oldest. */
  add(name: string, head: BenchmarkHead): void {
    if (lengthOf(head.definitions.values()) > MAX_CHARS) return;
    this.#heads.set(name, head);
    if (this.#heads.size > MAX_HEADS) this.#heads.delete(this.#heads.keys().next().value!);
  }
}

function lengthOf(definitions: Iterable<Definition>): number {
  let length = 0;
  for (const { title, description, rationale } of definitions) {
    length += title.length + description.length + rationale.length;
  }
  return length;
}

/** Digest of all bytes of a report before its test result. */
export function benchmarkDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
