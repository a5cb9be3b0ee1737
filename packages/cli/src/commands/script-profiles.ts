import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { parseDuration, parseId, parseMoment, parseNames } from '../options.ts';
import type { Columns } from '../output/output.ts';

type Profile = components['schemas']['ScriptProfile'];
type Trigger = components['schemas']['ScriptProfileTriggerRequest'];

const COLUMNS: Columns<Profile> = {
  id: (profile) => profile.id,
  title: (profile) => profile.title,
  script: (profile) => profile.script_id,
  trigger: (profile) => profile.trigger.trigger_type,
  next_run: ({ trigger }) => ('next_run' in trigger ? trigger.next_run : null),
  computers: (profile) => profile.computers.num_associated_computers,
  tags: (profile) => (profile.all_computers ? 'all computers' : profile.tags),
  access_group: (profile) => profile.access_group,
  archived: (profile) => profile.archived,
};

const FIELDS: Columns<Profile> = {
  ...COLUMNS,
  last_run: ({ trigger }) => ('last_run' in trigger ? trigger.last_run : null),
  schedule: ({ trigger }) => ('interval' in trigger ? trigger.interval : null),
  timezone: (profile) => profile.timezone,
  username: (profile) => profile.username,
  time_limit: (profile) => profile.time_limit,
  created_by: (profile) => profile.created_by.name,
  last_activity: (profile) => profile.activities.last_activity?.id,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list script profiles')
    .addOption(new Option('--status <status>', 'which').choices(['active', 'archived', 'all'] as const))
    .option('--search <text>', 'part of the title')
    .action(async ({ status, search }) => {
      const client = await cli.client();
      await cli.output.rows(client.items('/script-profiles', { params: { query: { status, search } } }), COLUMNS);
    });
  command
    .command('show')
    .description('show a script profile')
    .argument('<profile>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { script_profile_id: id } };
      await cli.output.item((await client.GET('/script-profiles/{script_profile_id}', { params })).data, FIELDS);
    });
  command
    .command('archive')
    .description('archive a script profile')
    .argument('<profile>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      await client.POST('/script-profiles/{script_profile_id}:archive', {
        params: { path: { script_profile_id: id } },
      });
      cli.output.note(`Script profile ${id} is archived.`);
    });
  registerCreate(command, cli);
}

function registerCreate(command: Command, cli: Cli): void {
  command
    .command('create')
    .description('create a script profile')
    .argument('<script>', 'id of the script', parseId)
    .requiredOption('--title <title>', 'unique among active script profiles')
    .addOption(new Option('--tags <tags>', 'computers with one of these, separated by commas').argParser(parseNames))
    .option('--all', 'all computers of the access group of the script')
    .option('--on-enrollment', 'run when a computer is accepted')
    .addOption(new Option('--at <time>', 'run once: ISO 8601, or from now, such as 2h').argParser(parseMoment))
    .option('--cron <fields>', 'run on a schedule: five cron fields')
    .addOption(new Option('--start-after <time>', 'first run on the schedule, at or after this').argParser(parseMoment))
    .option('--timezone <name>', 'of the cron fields, such as Europe/Madrid; otherwise UTC')
    .option('--username <name>', 'user of the computer to run it as', 'root')
    .addOption(
      new Option('--time-limit <duration>', 'after which it is killed').argParser(parseDuration).default(300_000, '5m'),
    )
    .action(async (script_id, options) => {
      const { title, tags = [], all = false, timezone, username, timeLimit } = options;
      const client = await cli.client();
      const body = {
        title,
        script_id,
        tags,
        all_computers: all,
        timezone,
        username,
        time_limit: timeLimit / 1000,
        trigger: triggerOf(options),
      };
      await cli.output.item((await client.POST('/script-profiles', { body })).data, FIELDS);
    });
}

interface TriggerOptions {
  onEnrollment?: true | undefined;
  at?: string | undefined;
  cron?: string | undefined;
  startAfter?: string | undefined;
}

function triggerOf({ onEnrollment, at, cron, startAfter }: TriggerOptions): Trigger {
  const triggers: Trigger[] = [];
  if (onEnrollment) triggers.push({ trigger_type: 'event', event_type: 'post_enrollment' });
  if (at !== undefined) triggers.push({ trigger_type: 'one_time', timestamp: at });
  if (cron !== undefined) {
    triggers.push({ trigger_type: 'recurring', interval: cron, start_after: startAfter ?? new Date().toISOString() });
  }
  const [trigger, ...others] = triggers;
  if (!trigger || others.length > 0) {
    throw new CliError(EXIT.usage, 'Choose when it runs by one of --on-enrollment, --at TIME or --cron FIELDS');
  }
  return trigger;
}
