/** Tells the user what goes on; called every few seconds while something is slow. */
export type Report = (message: string) => void;

/** One way to get a program. */
export interface BinarySource {
  name: string;
  /**
   * Resolves to the path of the program, or null when this way does not apply here.
   *
   * @throws with the reason when this way applies and fails
   */
  find(): Promise<string | null>;
  /** True when its failure ends the search: the user asked for this very way. */
  isFinal?: boolean;
}

/** No way to get the program worked. The message lists every reason and what the user can do. */
export class BinaryUnavailable extends Error {
  constructor(program: string, reasons: readonly string[], advice: string) {
    super([`No ${program} could be found, downloaded or built:`, ...reasons.map((r) => `  - ${r}`), advice].join('\n'));
    this.name = 'ProgramUnavailable';
  }
}

/**
 * Takes the first step that gives a program.
 *
 * @throws {BinaryUnavailable} when none does, or a final step fails
 */
export async function resolveBinary(program: string, steps: readonly BinarySource[], advice: string): Promise<string> {
  const reasons: string[] = [];
  for (const step of steps) {
    try {
      const path = await step.find();
      if (path !== null) return path;
      reasons.push(`${step.name}: none`);
    } catch (error) {
      reasons.push(`${step.name}: ${error instanceof Error ? error.message : String(error)}`);
      if (step.isFinal) break;
    }
  }
  throw new BinaryUnavailable(program, reasons, advice);
}
