import { Argument, type Command } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { readInput } from '../options.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export function register(command: Command, cli: Cli): void {
  command
    .addArgument(new Argument('<method>', 'method of the request').choices(METHODS))
    .argument('<path>', 'path below /api/v2, with parameters, such as "/computers?limit=5"')
    .option('--data <json>', 'body; @FILE reads it from a file, - from standard input')
    .action(async (method, path, { data }) => {
      const client = await cli.client();
      const { path: name, query } = splitPath(path);
      const body = data === undefined ? undefined : parseBody(await readBody(cli, data));
      const response = await client.request(method, name, { query, ...(body === undefined ? {} : { body }) });
      if (typeof response.data === 'string') await cli.output.text(response.data);
      else if (response.data !== undefined && response.data !== null) await cli.output.value(response.data);
    });
}

/** The path and the parameters of an argument; repeated parameters become lists. */
export function splitPath(text: string): { path: string; query: Record<string, string> } {
  const [address = '', ...rest] = text.split('?');
  const path = `/${address}`.replace(/^\/+/, '/');
  const parameters = new URLSearchParams(rest.join('?'));
  const names = [...new Set(parameters.keys())];
  return { path, query: Object.fromEntries(names.map((name) => [name, parameters.getAll(name).join(',')])) };
}

async function readBody(cli: Cli, data: string): Promise<string> {
  if (data === '-') return (await readInput(cli, '-')).toString('utf8');
  return data.startsWith('@') ? (await readInput(cli, data.slice(1))).toString('utf8') : data;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(EXIT.usage, `The body is not JSON: ${(error as Error).message}`);
  }
}
