import { type Command, Option } from '@commander-js/extra-typings';
import type { CloudEvent, EventsOptions, EventType, FlotillaClient } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { interruptible } from '../interrupt.ts';
import { LIMIT, parseCount, parseNames } from '../options.ts';
import { limited } from '../output/limited.ts';
import type { Columns } from '../output/output.ts';

const PAGE = 1000;
const DEFAULT_LIMIT = 100;

const FEED_COLUMNS: Columns<CloudEvent> = {
  time: (event) => event.time,
  type: (event) => event.type,
  subject: (event) => event.subject,
  text: describeEvent,
};

const HELP = `
Without -f and --after, the log of who did what, newest first.
With them, what happens to computers and activities, oldest first: what has happened after an event, and with -f also what
happens from now on. Ctrl-C ends it and prints where to continue.`;

export function register(command: Command, cli: Cli): void {
  command
    .option('-f, --follow', 'print events as they happen, until Ctrl-C')
    .option('--after <event>', 'events after this one, whose id -o json shows; "oldest" for all that are kept')
    .addOption(new Option('--types <types>', 'with -f or --after: only these, with commas').argParser(parseNames))
    .option('-q, --query <query>', 'with -f or --after: only about computers that this query finds')
    .addOption(new Option('--days <count>', 'how far to look back; otherwise 30').argParser(parseCount))
    .option('--search <text>', 'part of the message or of a name')
    .addOption(LIMIT)
    .addHelpText('after', HELP)
    .action(async (options) => {
      const client = await cli.client();
      if (options.follow || options.after !== undefined) await printFeed(cli, client, options);
      else await printLog(cli, client, options);
    });
}

interface Options {
  follow?: true | undefined;
  after?: string | undefined;
  types?: string[] | undefined;
  query?: string | undefined;
  days?: number | undefined;
  search?: string | undefined;
  limit?: number | undefined;
}

async function printLog(cli: Cli, client: FlotillaClient, options: Options): Promise<void> {
  const { days, search, types, query, limit = DEFAULT_LIMIT } = options;
  if (types || query !== undefined) throw new CliError(EXIT.usage, '--types and --query need --follow or --after');
  const rows = client.items('/events', { params: { query: { days, search, limit: Math.min(limit, PAGE) } } });
  await cli.output.rows(limited(rows, limit), {
    time: (event) => event.creation_time,
    person: (event) => event.person_name,
    message: (event) => event.message,
    address: (event) => event.address,
  });
}

async function printFeed(cli: Cli, client: FlotillaClient, options: Options): Promise<void> {
  if (options.days !== undefined || options.search !== undefined) {
    throw new CliError(EXIT.usage, '--days and --search cannot be combined with --follow and --after');
  }
  let cursor: string | undefined;
  const note = (next: string) => {
    cursor = next;
  };
  await interruptible(async (signal) => {
    const events = untilAborted(client.events(feedOptions(cli, options, signal, note)), signal);
    await cli.output.stream(noted(limited(events, options.limit), note), FEED_COLUMNS);
  }).finally(() => {
    if (cursor !== undefined) cli.output.note(`To continue: ${continuation(options, cursor)}`);
  });
}

function feedOptions(cli: Cli, options: Options, signal: AbortSignal, onCursor: (cursor: string) => void) {
  const { follow = false, after, types, query } = options;
  let isAway = false;
  return {
    ...(after !== undefined && { after }),
    // The server knows which types there are.
    ...(types && { types: types as EventType[] }),
    ...(query !== undefined && { query }),
    ...{ follow, signal },
    onCursor(cursor) {
      isAway = false;
      onCursor(cursor);
    },
    onOutage() {
      if (!isAway) cli.output.note('The connection is lost. Trying again until it is back.');
      isAway = true;
    },
  } satisfies EventsOptions;
}

/** Ends where the signal is aborted, without an error. */
async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  try {
    yield* items;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The events; each id is noted once its event has been printed. */
async function* noted(events: AsyncIterable<CloudEvent>, note: (cursor: string) => void): AsyncIterable<CloudEvent> {
  for await (const event of events) {
    yield event;
    note(event.id);
  }
}

function continuation({ follow, types, query }: Options, cursor: string): string {
  const words = ['flotilla events', ...(follow ? ['-f'] : []), '--after', cursor];
  if (types) words.push('--types', types.join(','));
  if (query !== undefined) words.push('-q', `'${query.replaceAll("'", `'\\''`)}'`);
  return words.join(' ');
}

/** What has happened, in a few words. */
function describeEvent(event: CloudEvent): string {
  switch (event.type) {
    case 'activity.created':
    case 'activity.approved':
    case 'activity.started':
      return event.data.summary;
    case 'activity.ended': {
      const { summary, succeeded, failed, canceled } = event.data;
      return `${summary}: ${succeeded} succeeded, ${failed} failed, ${canceled} canceled`;
    }
    case 'operation.delivered':
    case 'operation.ended':
      return `${event.data.activity_type} of activity ${event.data.activity_id}: ${event.data.activity_status}`;
    case 'computer.changed':
      return `${event.data.title}: ${event.data.changed.join(', ')}`;
    case 'computer.enrolled':
    case 'computer.removed':
      return event.data.title;
    case 'alert.raised':
    case 'alert.resolved':
      return event.data.alert_type;
    case 'profile.run':
      return `${event.data.profile_type} profile ${event.data.profile_id} on ${event.data.computers} computers`;
    case 'log.recorded':
      return `${event.data.person_name}: ${event.data.message}`;
    // Also types of a newer server.
    default:
      return JSON.stringify(event.data);
  }
}
