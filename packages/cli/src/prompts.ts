import type { Cli } from './cli.ts';
import { CliError, EXIT } from './errors.ts';
import { visibleLine } from './output/text.ts';

/** Prompts for a line of text. @throws {CliError} when it is interrupted */
export async function promptText(cli: Cli, message: string): Promise<string> {
  const { default: input } = await import('@inquirer/input');
  return answered(input({ message, required: true }, contextOf(cli)));
}

/** Prompts for a password without showing it. @throws {CliError} when it is interrupted */
export async function promptPassword(cli: Cli, message: string): Promise<string> {
  const { default: password } = await import('@inquirer/password');
  return answered(password({ message, toggleMask: false }, contextOf(cli)));
}

/**
 * Prints what is about to happen and prompts for confirmation, unless `--yes` gives it.
 *
 * @throws {CliError} when the answer is no, and when there is no terminal
 */
export async function confirm(cli: Cli, what: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    cli.output.note(`${what}.`);
    return;
  }
  if (!cli.isInteractive) {
    throw new CliError(EXIT.usage, `${what}? There is no terminal to confirm it on: add --yes`);
  }
  const { default: prompt } = await import('@inquirer/confirm');
  const answer = await answered(prompt({ message: visibleLine(`${what}?`), default: false }, contextOf(cli)));
  if (!answer) throw new CliError(EXIT.canceled, 'Nothing was done');
}

function contextOf({ runtime }: Cli) {
  return { input: runtime.stdin, output: runtime.stderr };
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new CliError(EXIT.canceled, 'Nothing was done');
    throw error;
  }
}
