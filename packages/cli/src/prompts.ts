import type { Cli } from './cli.ts';
import { CliError, EXIT } from './errors.ts';
import { visibleLine } from './output/text.ts';

/** Asks for a line of text. @throws {CliError} when it is interrupted */
export async function askText(cli: Cli, message: string): Promise<string> {
  const { default: input } = await import('@inquirer/input');
  return answered(input({ message, required: true }, contextOf(cli)));
}

/** Asks for a password without showing it. @throws {CliError} when it is interrupted */
export async function askPassword(cli: Cli, message: string): Promise<string> {
  const { default: password } = await import('@inquirer/password');
  return answered(password({ message, toggleMask: false }, contextOf(cli)));
}

/**
 * Says what is about to happen and asks whether it may; `--yes` answers.
 *
 * @throws {CliError} when the answer is no, and when nobody can be asked
 */
export async function confirm(cli: Cli, what: string, yes: boolean | undefined): Promise<void> {
  if (yes) {
    cli.output.note(`${what}.`);
    return;
  }
  if (!cli.isInteractive) {
    throw new CliError(EXIT.usage, `${what}? Nobody can be asked here: add --yes if that is what you want`);
  }
  const { default: ask } = await import('@inquirer/confirm');
  const answer = await answered(ask({ message: visibleLine(`${what}?`), default: false }, contextOf(cli)));
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
