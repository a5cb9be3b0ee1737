/** Shows progress to the user; called every few seconds while something is slow. */
export type Report = (message: string) => void;

/** One way to get a program, tried in turn. */
export interface BinarySource {
  name: string;
  /**
   * Resolves to the path of the program, or null when this source does not have it.
   * @throws with the reason of a failure
   */
  find(): Promise<string | null>;
  /** Whether its failure ends the search, because the user chose this source. */
  isFinal?: boolean;
}

/** No source had the program. The message lists every reason and what the user can do. */
export class BinaryUnavailable extends Error {
  constructor(program: string, reasons: readonly string[], advice: string) {
    super([`No ${program} could be found, downloaded or built:`, ...reasons.map((r) => `  - ${r}`), advice].join('\n'));
    this.name = 'BinaryUnavailable';
  }
}

/**
 * Returns the program of the first source that has it.
 * @throws {BinaryUnavailable} when none has it, or a final source fails
 */
export async function resolveBinary(
  program: string,
  sources: readonly BinarySource[],
  advice: string,
): Promise<string> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const path = await source.find();
      if (path !== null) return path;
      reasons.push(`${source.name}: none`);
    } catch (error) {
      reasons.push(`${source.name}: ${error instanceof Error ? error.message : String(error)}`);
      if (source.isFinal) break;
    }
  }
  throw new BinaryUnavailable(program, reasons, advice);
}
