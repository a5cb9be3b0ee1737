import { CommanderError } from 'commander';
import { Cli, type Runtime } from './cli.ts';
import { describeError, EXIT, type ExitCode } from './errors.ts';
import { createProgram } from './program.ts';

/** Runs the program with the arguments of a command line. @returns the exit code */
export async function run(args: readonly string[], runtime: Runtime): Promise<ExitCode> {
  const cli = new Cli(runtime);
  const [first, ...rest] = args;
  try {
    if (first === '__complete') {
      const { complete } = await import('./complete.ts');
      runtime.stdout.write((await complete(createProgram(cli), rest, cli)).map((word) => `${word}\n`).join(''));
      return EXIT.succeeded;
    }
    await createProgram(cli).parseAsync(first === 'help' ? [...rest, '--help'] : [...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    // Commander has shown its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.succeeded : EXIT.usage;
    const { lines, exitCode } = describeError(error, cli.url);
    cli.output.error(lines);
    return exitCode;
  }
}
