import type { Command } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';
import { CliError, describeError, EXIT } from '../errors.ts';
import { readServers, withoutServer, writeServers } from '../servers/server-file.ts';

export function register(command: Command, cli: Cli): void {
  command.argument('[name]', 'name of the login; otherwise the current one').action(async (name) => {
    const stored = await readServers(cli.serverFile);
    const server = stored.servers.find((one) => one.name === (name ?? stored.current));
    if (!server) throw new CliError(EXIT.usage, 'There is no such login; "flotilla servers" lists them');
    try {
      const client = await cli.clientOf({ url: server.url, credentials: { token: server.token } });
      await client.POST('/logout');
    } catch (error) {
      // The token may have ended already, or the server no longer exist: the login is removed here in any case.
      cli.output.note(describeError(error, server.url).lines.join('\n'));
    }
    await writeServers(cli.serverFile, withoutServer(stored, server.name));
    cli.output.note(`Logged out of ${server.url}.`);
  });
}
