import { type Command, Option } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';
import { parseCount } from '../options.ts';
import { limited } from '../output/limited.ts';

const PAGE = 1000;

export function register(command: Command, cli: Cli): void {
  command
    .addOption(new Option('--days <count>', 'how far to look back; otherwise 30').argParser(parseCount))
    .option('--search <text>', 'part of the message or of a name')
    .addOption(new Option('--limit <count>', 'show at most this many').argParser(parseCount).default(100))
    .action(async ({ days, search, limit }) => {
      const client = await cli.client();
      const rows = client.items('/events', { params: { query: { days, search, limit: Math.min(limit, PAGE) } } });
      await cli.output.rows(limited(rows, limit), {
        time: (event) => event.creation_time,
        person: (event) => event.person_name,
        message: (event) => event.message,
        address: (event) => event.address,
      });
    });
}
