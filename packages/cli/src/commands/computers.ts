import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import { act, edit, startEach } from '../act.ts';
import type { Cli } from '../cli.ts';
import { actionCommand, computersCommand, deliveryOf, LIMIT, parseId, parseNames } from '../options.ts';
import { limited } from '../output/limited.ts';
import type { Columns } from '../output/output.ts';

type Computer = components['schemas']['Computer'];

const BLOCKS = [
  'alerts',
  'upgrades',
  'release_upgrades',
  'reboot_packages',
  'network',
  'all_network',
  'hardware',
  'grouped_hardware',
  'annotations',
  'profiles',
  'wsl_profiles',
] as const;

const COLUMNS: Columns<Computer> = {
  id: (computer) => computer.id,
  title: (computer) => computer.title,
  release: (computer) => computer.distribution,
  group: (computer) => computer.access_group,
  tags: (computer) => computer.tags,
  reboot: (computer) => computer.reboot_required_flag,
  last_ping: (computer) => computer.last_ping_time,
};

const FIELDS: Columns<components['schemas']['ComputerDetail']> = {
  ...COLUMNS,
  hostname: (computer) => computer.hostname,
  comment: (computer) => computer.comment,
  distribution: (computer) => computer.distribution_info?.description,
  memory_mib: (computer) => computer.total_memory,
  last_exchange: (computer) => computer.last_exchange_time,
  registered: (computer) => computer.registered_at,
  archived: (computer) => computer.archived,
  upgrades: (computer) =>
    computer.upgrades && `${computer.upgrades.regular}, ${computer.upgrades.security} for security`,
  alerts: (computer) => computer.alerts?.map(({ summary }) => summary).join('; '),
  addresses: (computer) => computer.network_devices?.map((device) => device.ip_address),
  annotations: (computer) => Object.entries(computer.annotations ?? {}).map(([key, value]) => `${key}=${value}`),
};

const USERS: Columns<components['schemas']['ComputerUser']> = {
  user: (user) => user.username,
  name: (user) => user.name,
  uid: (user) => user.uid,
  groups: (user) => user.groups,
  locked: (user) => !user.enabled,
};

export function register(command: Command, cli: Cli): void {
  registerReads(command, cli);
  registerTags(command, cli);
  registerEdits(command, cli);
  registerActions(command, cli);
}

function registerReads(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list computers')
    .option('-q, --query <query>', 'only those that this query finds')
    .addOption(new Option('--status <status>', 'which').choices(['active', 'archived', 'all'] as const))
    .addOption(new Option('--with <blocks>', `for -o json, parts of these: ${BLOCKS.join(', ')}`).argParser(parseNames))
    .addOption(LIMIT)
    .action(async ({ query, status, with: blocks, limit }) => {
      const client = await cli.client();
      const parts = Object.fromEntries((blocks ?? []).map((block) => [`with_${block}`, true]));
      const rows = client.items('/computers', { params: { query: { query, status, root_only: false, ...parts } } });
      await cli.output.rows(limited(rows, limit), COLUMNS);
    });
  command
    .command('show')
    .description('show a computer')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const query = { with_alerts: true, with_upgrades: true, with_network: true, with_annotations: true };
      const params = { path: { computer_id: id }, query };
      await cli.output.item((await client.GET('/computers/{computer_id}', { params })).data, FIELDS);
    });
  command
    .command('users')
    .description('list the local users of a computer')
    .argument('<computer>', 'its id', parseId)
    .option('--search <text>', 'part of the user name or full name')
    .action(async (id, { search }) => {
      const client = await cli.client();
      const params = { path: { computer_id: id }, query: { search } };
      await cli.output.rows(client.items('/computers/{computer_id}/users', { params }), USERS);
    });
}

function registerTags(command: Command, cli: Cli): void {
  computersCommand(command, 'tag')
    .description('add tags')
    .argument('<tags...>', 'tags')
    .action((tags, options) =>
      edit(cli, options, `Tag with ${tags.join(', ')}`, (client, query) =>
        client.POST('/computers:add-tags', { body: { query, tags } }),
      ),
    );
  computersCommand(command, 'untag')
    .description('remove tags')
    .argument('<tags...>', 'tags')
    .action((tags, options) =>
      edit(cli, options, `Remove the tag ${tags.join(', ')}`, (client, query) =>
        client.POST('/computers:remove-tags', { body: { query, tags } }),
      ),
    );
}

function registerEdits(command: Command, cli: Cli): void {
  computersCommand(command, 'annotate')
    .description('set an annotation')
    .argument('<key>', 'its key')
    .argument('<value>', 'its text')
    .action((key, value, options) =>
      edit(cli, options, `Annotate with ${key}`, (client, query) =>
        client.POST('/computers:annotate', { body: { query, key, value } }),
      ),
    );
  computersCommand(command, 'unannotate')
    .description('remove an annotation')
    .argument('<key>', 'its key')
    .action((key, options) =>
      edit(cli, options, `Remove the annotation ${key}`, (client, query) =>
        client.POST('/computers:remove-annotation', { body: { query, key } }),
      ),
    );
  computersCommand(command, 'move')
    .description('move into an access group')
    .argument('<group>', 'name of the access group')
    .action((group, options) =>
      edit(cli, options, `Move to ${group}`, (client, query) =>
        client.POST('/computers:change-access-group', { body: { query, access_group: group } }),
      ),
    );
}

function registerActions(command: Command, cli: Cli): void {
  for (const [name, path] of [
    ['restart', '/computers/{computer_id}/restart'],
    ['shutdown', '/computers/{computer_id}/shutdown'],
  ] as const) {
    actionCommand(command, name)
      .description(name === 'restart' ? 'restart computers' : 'shut computers down')
      .action((options) =>
        act(cli, options, name === 'restart' ? 'Restart' : 'Shut down', (client, targets, signal) => {
          const body = deliveryOf(options);
          return startEach(targets, signal, ({ id }) =>
            client.POST(path, { params: { path: { computer_id: id } }, body }),
          );
        }),
      );
  }
  registerArchive(command, cli);
}

/** Archiving is final, so it prompts for a single computer, too. */
function registerArchive(command: Command, cli: Cli): void {
  computersCommand(command, 'archive')
    .description('archive computers permanently')
    .action((options) =>
      act(
        cli,
        options,
        'Archive for good',
        (client, targets, signal) =>
          startEach(targets, signal, ({ id, title }) => {
            const params = { path: { computer_id: id } };
            return client.POST('/computers/{computer_id}/archive', { params, body: { computer_title: title } });
          }),
        { always: true },
      ),
    );
}
