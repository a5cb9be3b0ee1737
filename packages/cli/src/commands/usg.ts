import { type Command, Option } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import { startOne } from '../act.ts';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { activityCommand, parseCount, parseId, parseMoment, parseNames, readInput } from '../options.ts';
import type { Columns } from '../output/output.ts';
import { exitCodeOf, watch } from '../watch.ts';

const COLUMNS: Columns<components['schemas']['UsgProfile']> = {
  id: (profile) => profile.id,
  title: (profile) => profile.title,
  mode: (profile) => profile.mode,
  benchmark: (profile) => profile.benchmark,
  computers: (profile) => profile.associated_instances,
  passing: (profile) => profile.last_run_results.passing,
  failing: (profile) => profile.last_run_results.failing,
  last_run: (profile) => profile.last_run_results.timestamp,
  next_run: (profile) => profile.next_run_time,
  status: (profile) => profile.status,
};

const AUDITS: Columns<components['schemas']['UsgAudit']> = {
  started: (audit) => audit.started_at,
  profile: (audit) => audit.profile.title,
  mode: (audit) => audit.mode,
  result: (audit) => audit.result,
  failed_rules: (audit) => audit.failed_rules,
  activity: (audit) => audit.activity_id,
};

const BENCHMARKS = [
  'disa_stig',
  'cis_level1_workstation',
  'cis_level1_server',
  'cis_level2_workstation',
  'cis_level2_server',
] as const;
const STATUSES = ['active', 'archived', 'all', 'over-limit'] as const;

export function register(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list USG profiles')
    .addOption(new Option('--status <status>', 'which').choices(STATUSES))
    .option('--search <text>', 'part of the title')
    .action(async ({ status, search }) => {
      const client = await cli.client();
      await cli.output.rows(client.items('/usg-profiles', { params: { query: { status, search } } }), COLUMNS);
    });
  registerCreate(command, cli);
  activityCommand(command, 'run')
    .description('run a USG profile now')
    .argument('<profile>', 'its id', parseId)
    .action((id, options) =>
      startOne(cli, options, async (client) => {
        const params = { path: { usg_profile_id: id } };
        const { data } = await client.POST('/usg-profiles/{usg_profile_id}:execute', {
          params,
          body: { after: options.after },
        });
        return { data };
      }),
    );
  registerReport(command, cli);
  registerAudits(command, cli);
  command
    .command('archive')
    .description('archive a USG profile permanently')
    .argument('<profile>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { usg_profile_id: id } };
      await cli.output.item((await client.POST('/usg-profiles/{usg_profile_id}:archive', { params })).data, COLUMNS);
    });
}

function registerAudits(command: Command, cli: Cli): void {
  command
    .command('audits')
    .description('list the audits of a computer, newest first')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { computer_id: id } };
      await cli.output.rows(client.items('/computers/{computer_id}/usg-audits', { params }), AUDITS);
    });
}

function registerCreate(command: Command, cli: Cli): void {
  command
    .command('create')
    .description('create a USG profile')
    .requiredOption('--title <title>', 'its title')
    .addOption(
      new Option('--mode <mode>', 'what it does')
        .choices(['audit', 'fix-audit', 'fix-restart-audit'] as const)
        .default('audit' as const),
    )
    .requiredOption('--schedule <rule>', 'RFC 5545 rule, no more often than weekly, such as FREQ=WEEKLY')
    .addOption(
      new Option('--start <time>', 'first run: ISO 8601, or from now, such as 2h')
        .argParser(parseMoment)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--benchmark <name>', 'what is audited, without a tailoring file').choices(BENCHMARKS))
    .option('--tailoring-file <file>', 'XML that decides the rules; - for standard input')
    .addOption(new Option('--tags <tags>', 'computers with one of these, separated by commas').argParser(parseNames))
    .option('--all', 'all computers of the access group')
    .option('--access-group <name>', 'otherwise global')
    .option('--timezone <name>', 'of the rule, such as Europe/Madrid; otherwise UTC')
    .addOption(new Option('--restart-delay <hours>', 'between fix and restart').argParser(parseCount))
    .addOption(new Option('--restart-window <minutes>', 'that restarts are spread over').argParser(parseCount))
    .action(async (options) => {
      const client = await cli.client();
      const body = { ...requestOf(options), ...(await rulesOf(cli, options)) };
      await cli.output.item((await client.POST('/usg-profiles', { body })).data, COLUMNS);
    });
}

interface ProfileOptions {
  title: string;
  mode: components['schemas']['UsgMode'];
  schedule: string;
  start: string;
  tags?: string[] | undefined;
  all?: true | undefined;
  accessGroup?: string | undefined;
  timezone?: string | undefined;
  restartDelay?: number | undefined;
  restartWindow?: number | undefined;
}

function requestOf({ title, mode, schedule, timezone, tags, ...options }: ProfileOptions) {
  return {
    title,
    mode,
    schedule,
    timezone,
    tags,
    start_date: options.start,
    all_computers: options.all ?? null,
    access_group: options.accessGroup ?? null,
    restart_deliver_delay: options.restartDelay,
    restart_deliver_delay_window: options.restartWindow,
  };
}

/** What decides the rules: a tailoring file or a benchmark. @throws {CliError} without either */
async function rulesOf(
  cli: Cli,
  {
    tailoringFile,
    benchmark,
  }: { tailoringFile?: string | undefined; benchmark?: (typeof BENCHMARKS)[number] | undefined },
) {
  if (tailoringFile !== undefined) return { tailoring_file: (await readInput(cli, tailoringFile)).toString('utf8') };
  if (benchmark !== undefined) return { benchmark };
  throw new CliError(EXIT.usage, 'Choose the rules by --benchmark or --tailoring-file');
}

interface ReportOptions {
  start?: string | undefined;
  end?: string | undefined;
  detailed?: true | undefined;
}

function registerReport(command: Command, cli: Cli): void {
  command
    .command('report')
    .description('print a report as CSV, once it is written')
    .argument('<profile>', 'its id', parseId)
    .option('--start <time>', 'the runs of this day, minute or second; otherwise the latest run')
    .option('--end <time>', 'the runs from --start up to this')
    .option('--detailed', 'a line for each computer and rule')
    .action(async (id, options) => {
      const client = await cli.client();
      const path = await reportPath(cli, client, id, options);
      if (path === null) return;
      const { data } = await client.GET('/usg-profiles/blob', { params: { query: { path } } });
      await cli.output.text(typeof data === 'string' ? data : data.file_content);
    });
}

/** Where the report is, once it has been written; null when that did not succeed. */
async function reportPath(
  cli: Cli,
  client: FlotillaClient,
  id: number,
  { start, end, detailed }: ReportOptions,
): Promise<string | null> {
  const path = { usg_profile_id: id };
  const start_date = start ?? (await latestRun(client, id));
  const query = { start_date, end_date: end, detailed };
  const { data } = await client.GET('/usg-profiles/{usg_profile_id}/report', { params: { path, query } });
  if (data.id === null) return data.result_text;
  const ended = await watch(cli, client, [data.id], { timeout: null });
  const [activity] = ended ?? [];
  if (!activity) {
    cli.output.note(`The report is still being written: flotilla usg report ${id}`);
    return null;
  }
  cli.exitCode = exitCodeOf([activity]);
  if (cli.exitCode !== EXIT.succeeded)
    cli.output.note(activity.result_text ?? `The report ${activity.activity_status}`);
  return cli.exitCode === EXIT.succeeded ? activity.result_text : null;
}

async function latestRun(client: FlotillaClient, id: number): Promise<string> {
  const { data } = await client.GET('/usg-profiles/{usg_profile_id}', { params: { path: { usg_profile_id: id } } });
  const { timestamp } = data.last_run_results;
  if (timestamp === null) throw new CliError(EXIT.refused, `USG profile ${id} has not run yet: flotilla usg run ${id}`);
  return timestamp;
}
