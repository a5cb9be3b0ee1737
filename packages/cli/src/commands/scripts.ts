import { basename } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import { act, showOutcome, startEach } from '../act.ts';
import type { Cli } from '../cli.ts';
import { actionCommand, deliveryOf, parseDuration, parseId, readInput } from '../options.ts';
import type { Columns } from '../output/output.ts';
import { visibleLine } from '../output/text.ts';
import { queriesFor } from '../targets.ts';
import type { DetailedActivity } from '../watch.ts';

type Script = components['schemas']['ScriptItem'];

const COLUMNS: Columns<Script> = {
  id: (script) => script.id,
  title: (script) => script.title,
  version: (script) => script.version_number,
  status: (script) => script.status.toLowerCase(),
  interpreter: (script) => script.interpreter,
  username: (script) => script.username,
  time_limit: (script) => script.time_limit,
  access_group: (script) => script.access_group,
};

const USERNAME = new Option('--username <name>', 'user of the computer to run it as');
const TIME_LIMIT = new Option('--time-limit <duration>', 'after which it is killed, such as 5m').argParser(
  parseDuration,
);

export function register(command: Command, cli: Cli): void {
  registerReads(command, cli);
  registerChanges(command, cli);
  actionCommand(command, 'run')
    .description('run a script on computers; with --wait, print its output')
    .argument('<script>', 'its id', parseId)
    .addOption(USERNAME)
    .addOption(TIME_LIMIT)
    .action((script_id, options) =>
      act(
        cli,
        options,
        `Run script ${script_id}`,
        (client, targets, signal) =>
          startEach(queriesFor(targets), signal, (query) => {
            const { username, timeLimit } = options;
            const body = { query, username, time_limit: secondsOf(timeLimit), ...deliveryOf(options) };
            return client.POST('/scripts/{script_id}:execute', { params: { path: { script_id } }, body });
          }),
        { ended: (activities) => showOutputs(cli, activities) },
      ),
    );
}

function registerReads(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list scripts')
    .addOption(new Option('--status <status>', 'which').choices(['active', 'archived', 'redacted', 'all'] as const))
    .option('--search <text>', 'part of the title')
    .action(async ({ status, search }) => {
      const client = await cli.client();
      await cli.output.rows(client.items('/scripts', { params: { query: { status, search } } }), COLUMNS);
    });
  command
    .command('show')
    .description('print the code of a script')
    .argument('<script>', 'its id', parseId)
    .action(async (script_id) => {
      const client = await cli.client();
      const { data } = await client.GET('/scripts/{script_id}', { params: { path: { script_id } } });
      if (cli.output.isForPeople) await cli.output.text(`#!${data.interpreter}\n${data.code}`);
      else await cli.output.item(data, COLUMNS);
    });
}

function registerChanges(command: Command, cli: Cli): void {
  command
    .command('add')
    .description('store a script')
    .argument('<file>', 'its code, beginning with #! and an interpreter; - for standard input')
    .option('--title <title>', 'otherwise the name of the file')
    .option('--access-group <name>', 'otherwise global')
    .option('--attach <files...>', 'up to 5 files that come along')
    .addOption(USERNAME)
    .addOption(TIME_LIMIT)
    .action(async (file, { title, accessGroup, attach, username, timeLimit }) => {
      const client = await cli.client();
      const body = {
        title: title ?? basename(file),
        code: (await readInput(cli, file)).toString('utf8'),
        access_group: accessGroup ?? null,
        username: username ?? null,
        time_limit: secondsOf(timeLimit),
        attachments: await Promise.all((attach ?? []).map((name) => readAttachment(cli, name))),
      };
      await cli.output.item((await client.POST('/scripts', { body })).data, COLUMNS);
    });
  command
    .command('archive')
    .description('archive a script and its profiles')
    .argument('<script>', 'its id', parseId)
    .action(async (script_id) => {
      const client = await cli.client();
      await client.POST('/scripts/{script_id}:archive', { params: { path: { script_id } } });
      cli.output.note(`Script ${script_id} is archived.`);
    });
}

async function readAttachment(cli: Cli, file: string): Promise<{ filename: string; content: string }> {
  return { filename: basename(file), content: (await readInput(cli, file)).toString('base64') };
}

function secondsOf(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** Prints what the script has printed on each computer; programs get the activities. */
async function showOutputs(cli: Cli, activities: DetailedActivity[]): Promise<void> {
  if (!cli.output.isForPeople) return showOutcome(cli, activities);
  for (const child of activities.flatMap(({ children }) => children)) {
    const title = visibleLine(child.computer_title ?? `computer ${child.computer_id}`);
    const result = child.result_text ?? '';
    const end = result === '' || result.endsWith('\n') ? '' : '\n';
    await cli.output.text(`== ${title}: ${child.activity_status}\n${result}${end}`);
  }
}
