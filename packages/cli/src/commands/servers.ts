import type { Command } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';
import { findServer, readServers, writeServers } from '../servers/server-file.ts';

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list logins')
    .action(async () => {
      const { current, servers } = await readServers(cli.serverFile);
      const rows = servers.map(({ name, url, email }) => ({ name, url, email, current: name === current }));
      await cli.output.rows(rows, {
        name: (row) => row.name,
        url: (row) => row.url,
        email: (row) => row.email,
        current: (row) => row.current,
      });
    });
  command
    .command('use')
    .description('choose the login that commands use')
    .argument('<name>', 'name of the login')
    .action(async (name) => {
      const stored = await readServers(cli.serverFile);
      const server = findServer(stored, name);
      await writeServers(cli.serverFile, { ...stored, current: name });
      cli.output.note(`Commands now use ${server.url} as ${server.email}.`);
    });
}
