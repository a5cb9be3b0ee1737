import type { Command } from '@commander-js/extra-typings';
import type { Cli } from './cli.ts';
import { loadCommand } from './program.ts';

/**
 * What may stand in place of the last word of a command line: subcommands, options and values of options.
 *
 * @param words - after the name of the program; the last one may be empty or unfinished
 */
export async function complete(program: Command, words: readonly string[], cli: Cli): Promise<string[]> {
  const last = words.at(-1) ?? '';
  let command = program;
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) continue;
    if (command === program) await loadCommand(next as unknown as Command, cli);
    command = next as unknown as Command;
  }
  return candidatesOf(program, command, words.at(-2)).filter(
    (word) => word.startsWith(last) && (last !== '' || !word.startsWith('-')),
  );
}

function candidatesOf(program: Command, command: Command, previous: string | undefined): string[] {
  const options = [...command.options, ...(command === program ? [] : program.options)];
  const expecting = options.find(({ long, short }) => previous !== undefined && [long, short].includes(previous));
  if (expecting?.argChoices) return [...expecting.argChoices];
  if (expecting && (expecting.required || expecting.optional)) return [];
  const names = command.commands.map((one) => one.name());
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return [...names, ...values, ...options.flatMap(({ long }) => long ?? []), '--help'];
}
