import { Argument, type Command, Option } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import { ACTIVITY_COLUMNS, CHILD_COLUMNS, followActivities } from '../act.ts';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { activityCommand, collectIds, parseCount, parseDuration, parseId } from '../options.ts';
import { limited } from '../output/limited.ts';
import type { Columns } from '../output/output.ts';
import { confirm } from '../prompts.ts';
import type { DetailedActivity } from '../watch.ts';

/** Activities that one request may name. */
const MAX_IDS = 1000;

const IDS = new Argument('<activities...>', 'their ids').argParser(collectIds);
const OPTIONAL_IDS = new Argument('[activities...]', 'their ids').argParser(collectIds);

const PARENT_COLUMNS: Columns<components['schemas']['ParentActivity']> = {
  id: (activity) => activity.id,
  status: (activity) => activity.activity_status,
  summary: (activity) => activity.summary,
  computers: (activity) => activity.computer_count,
  succeeded: (activity) => activity.children_statuses.good,
  failed: (activity) => activity.children_statuses.bad,
  creator: (activity) => activity.creator?.name,
  created: (activity) => activity.creation_time,
};

const FIELDS: Columns<DetailedActivity> = {
  ...ACTIVITY_COLUMNS,
  type: (activity) => activity.type,
  creator: (activity) => activity.creator?.name,
  delivered: (activity) => activity.delivery_time,
  completed: (activity) => activity.completion_time,
  deliver_after: (activity) => activity.deliver_after_time,
  parent: (activity) => activity.parent_id,
  computer: (activity) => activity.computer_id,
  result_code: (activity) => activity.result_code,
};

export function register(command: Command, cli: Cli): void {
  registerReads(command, cli);
  registerChoices(command, cli);
  registerRepeats(command, cli);
}

function registerReads(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list activities, newest first')
    .option('-q, --query <query>', 'only those that this query finds, such as status:failed')
    .addOption(new Option('--limit <count>', 'show at most this many').argParser(parseCount).default(100))
    .action(async ({ query, limit }) => {
      const client = await cli.client();
      const rows = client.items('/activities/parents', {
        params: { query: { query, limit: Math.min(limit, MAX_IDS) } },
      });
      await cli.output.rows(limited(rows, limit), PARENT_COLUMNS);
    });
  command
    .command('show')
    .description('show an activity with its operations and their results')
    .argument('<activity>', 'its id', parseId)
    .action(async (id) => showActivity(cli, await readActivity(await cli.client(), id)));
  command
    .command('watch')
    .description('wait for the end of activities and show how they ended')
    .addArgument(IDS)
    .addOption(new Option('--timeout <duration>', 'wait at most this long, such as 10m').argParser(parseDuration))
    .action(async (ids, { timeout }) => {
      const client = await cli.client();
      const activities = await Promise.all(ids.map((id) => readActivity(client, id)));
      await followActivities(cli, client, activities, { wait: true, timeout });
    });
}

async function readActivity(client: FlotillaClient, id: number): Promise<DetailedActivity> {
  return (await client.GET('/activities/{activity_id}', { params: { path: { activity_id: id } } })).data;
}

async function showActivity(cli: Cli, activity: DetailedActivity): Promise<void> {
  await cli.output.item(activity, FIELDS);
  if (!cli.output.isForPeople) return;
  if (activity.children.length > 0) {
    await cli.output.text('\n');
    await cli.output.rows(activity.children, CHILD_COLUMNS);
  }
  if (activity.result_text !== null) await cli.output.text(`\n${activity.result_text.trimEnd()}\n`);
}

const CHOICES = {
  cancel: { path: '/activities/cancel', description: 'cancel activities', what: 'Cancel' },
  approve: { path: '/activities/approve', description: 'approve activities that wait for it', what: 'Approve' },
} as const;

function registerChoices(command: Command, cli: Cli): void {
  for (const [name, { path, description, what }] of Object.entries(CHOICES)) {
    command
      .command(name)
      .description(description)
      .addArgument(OPTIONAL_IDS)
      .option('-q, --query <query>', 'all that this query finds, such as "status:scheduled computer:tag:lab"')
      .option('-y, --yes', 'do not prompt for confirmation')
      .action(async (given, { query, yes }) => {
        const client = await cli.client();
        const ids = await chooseActivities(client, given ?? [], query);
        if (ids.length > 1) await confirm(cli, `${what} ${ids.length} activities`, yes);
        for (let i = 0; i < ids.length; i += MAX_IDS) {
          await client.POST(path, { body: { activity_ids: ids.slice(i, i + MAX_IDS) } });
        }
        await cli.output.ids(ids);
      });
  }
}

async function chooseActivities(client: FlotillaClient, ids: readonly number[], query: string | undefined) {
  if (ids.length > 0 === (query !== undefined) || query?.trim() === '') {
    throw new CliError(EXIT.usage, 'Choose the activities by their ids or by -q QUERY');
  }
  if (query === undefined) return ids;
  const found: number[] = [];
  for await (const { id } of client.items('/activities', { params: { query: { query } } })) found.push(id);
  return found;
}

function registerRepeats(command: Command, cli: Cli): void {
  for (const [name, path, description] of [
    ['reapply', '/activities/reapply', 'repeat activities that have ended'],
    ['revert', '/activities/revert', 'undo what activities have changed'],
  ] as const) {
    activityCommand(command, name)
      .description(description)
      .addArgument(IDS)
      .action(async (ids, options) => {
        const client = await cli.client();
        const { data } = await client.POST(path, { body: { activity_ids: ids, after: options.after } });
        const started = await Promise.all(data.map((id) => readActivity(client, id)));
        await followActivities(cli, client, started, options);
      });
  }
}
