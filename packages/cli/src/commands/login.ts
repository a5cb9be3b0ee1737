import { text } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { promptPassword, promptText } from '../prompts.ts';
import { normalizeUrl } from '../servers/connection.ts';
import { readServers, withServer, writeServers } from '../servers/server-file.ts';

export function register(command: Command, cli: Cli): void {
  command
    .argument('<url>', 'address of the server')
    .option('--email <email>', 'whom to log in; prompted for if absent')
    .option('--account <name>', 'account to work in, for people with several')
    .option('--name <name>', 'name of the login; otherwise host and port of the server')
    .addHelpText(
      'after',
      '\nThe password is that of FLOTILLA_PASSWORD, else it is prompted for, or read from standard input if that is no terminal.',
    )
    .action(async (address, options) => {
      const url = normalizeUrl(address);
      const email = options.email ?? (await promptForEmail(cli));
      const password = await readPassword(cli);
      const { account } = options;
      const client = await cli.clientOf({ url, credentials: { email, password, ...(account ? { account } : {}) } });
      const { token } = await client.login();
      const name = options.name ?? new URL(url).host;
      await writeServers(cli.serverFile, withServer(await readServers(cli.serverFile), { name, url, email, token }));
      cli.output.note(`Logged in to ${url} as ${email}. The login is named ${name} and is now the current one.`);
    });
}

async function promptForEmail(cli: Cli): Promise<string> {
  if (!cli.isInteractive) throw new CliError(EXIT.usage, 'There is no terminal to prompt on: add --email ADDRESS');
  return promptText(cli, 'Email');
}

async function readPassword(cli: Cli): Promise<string> {
  const { env, stdin } = cli.runtime;
  if (env['FLOTILLA_PASSWORD']) return env['FLOTILLA_PASSWORD'];
  const password = cli.isInteractive
    ? await promptPassword(cli, 'Password')
    : (await text(stdin)).replace(/\r?\n$/, '');
  if (password === '')
    throw new CliError(EXIT.usage, 'The password is empty: set FLOTILLA_PASSWORD, or pass it on standard input');
  return password;
}
