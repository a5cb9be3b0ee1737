import { Argument, type Command, Option } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { collectIds, parseCount, parseId, parseNames } from '../options.ts';
import { limited } from '../output/limited.ts';
import type { Columns } from '../output/output.ts';
import { confirm } from '../prompts.ts';

type Schemas = components['schemas'];

const COLUMNS: Columns<Schemas['Webhook']> = {
  id: (webhook) => webhook.id,
  status: (webhook) => webhook.status,
  url: (webhook) => webhook.url,
  types: (webhook) => webhook.types,
  query: (webhook) => webhook.query,
  ordered: (webhook) => webhook.ordered,
  failing_since: (webhook) => webhook.failing_since,
};

const FIELDS: Columns<Schemas['Webhook']> = {
  ...COLUMNS,
  reason: (webhook) => webhook.reason,
  cursor: (webhook) => webhook.cursor,
  creator: (webhook) => webhook.creator_id,
  created: (webhook) => webhook.creation_time,
};

const DELIVERY_COLUMNS: Columns<Schemas['WebhookDelivery']> = {
  id: (delivery) => delivery.id,
  event: (delivery) => delivery.event_id,
  type: (delivery) => delivery.event_type,
  status: (delivery) => delivery.status,
  attempts: (delivery) => delivery.attempts,
  response: (delivery) => delivery.response_status,
  next_attempt: (delivery) => delivery.next_attempt_time,
  completed: (delivery) => delivery.completion_time,
  error: (delivery) => delivery.error,
};

const WEBHOOK = new Argument('<webhook>', 'its id').argParser(parseId);

export function register(command: Command, cli: Cli): void {
  registerReads(command, cli);
  registerChanges(command, cli);
  registerSecrets(command, cli);
  registerDeliveries(command, cli);
}

function registerReads(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list webhooks, newest first')
    .action(async () => cli.output.rows((await cli.client()).items('/webhooks'), COLUMNS));
  command
    .command('show')
    .description('show a webhook')
    .addArgument(WEBHOOK)
    .action(async (id) => {
      const { data } = await (await cli.client()).GET('/webhooks/{webhook_id}', pathOf(id));
      await cli.output.item(data, FIELDS);
    });
}

function registerChanges(command: Command, cli: Cli): void {
  filterOptions(command.command('create'))
    .description('create a webhook and print its secret, which is shown only now')
    .argument('<url>', 'where events are sent to')
    .option('--ordered', 'send each event only once the one before has arrived')
    .action(async (url, { ordered = false, ...options }) => {
      const body = { url, ordered, ...filterOf(options) };
      const { webhook, secret } = (await (await cli.client()).POST('/webhooks', { body })).data;
      cli.output.note(`Webhook ${webhook.id} sends events to ${webhook.url} from now on.`);
      await printSecret(cli, secret, { webhook, secret });
    });
  filterOptions(command.command('edit'))
    .description('change, pause or resume a webhook; what is not given stays')
    .addArgument(WEBHOOK)
    .option('--url <url>', 'where events are sent to')
    .option('--ordered', 'send each event only once the one before has arrived')
    .option('--no-ordered', 'do not wait for the one before')
    .addOption(new Option('--status <status>', 'resume or pause it').choices(['active', 'paused'] as const))
    .action(async (id, { url, ordered, status, ...options }) => {
      const body = { url, ordered, status, ...filterOf(options) };
      if (Object.values(body).every((value) => value === undefined)) {
        throw new CliError(EXIT.usage, 'Nothing to change: "flotilla webhooks edit --help" lists the options');
      }
      const { data } = await (await cli.client()).PATCH('/webhooks/{webhook_id}', { ...pathOf(id), body });
      await cli.output.item(data, FIELDS);
    });
  command
    .command('delete')
    .description('remove a webhook and the list of its deliveries')
    .addArgument(WEBHOOK)
    .option('-y, --yes', 'do not prompt for confirmation')
    .action(async (id, { yes }) => {
      await confirm(cli, `Delete webhook ${id}`, yes);
      await (await cli.client()).DELETE('/webhooks/{webhook_id}', pathOf(id));
      cli.output.note(`Webhook ${id} is deleted.`);
    });
}

function registerSecrets(command: Command, cli: Cli): void {
  command
    .command('rotate-secret')
    .description('replace the secret and print the new one; the previous one is valid for another day')
    .addArgument(WEBHOOK)
    .action(async (id) => {
      const { data } = await (await cli.client()).POST('/webhooks/{webhook_id}:rotate-secret', pathOf(id));
      cli.output.note(`The previous secret is valid until ${data.previous_secret_expiry_time}.`);
      await printSecret(cli, data.secret, data);
    });
}

function registerDeliveries(command: Command, cli: Cli): void {
  command
    .command('test')
    .description('send an event of the type webhook.test')
    .addArgument(WEBHOOK)
    .action(async (id) => {
      const { data } = await (await cli.client()).POST('/webhooks/{webhook_id}:test', pathOf(id));
      await cli.output.item(data, DELIVERY_COLUMNS);
      if (cli.output.isForPeople) cli.output.note(`To see what becomes of it: flotilla webhooks deliveries ${id}`);
    });
  command
    .command('deliveries')
    .description('list the deliveries of a webhook, newest first')
    .addArgument(WEBHOOK)
    .addOption(new Option('--status <status>', 'only these').choices(['pending', 'delivered', 'failed'] as const))
    .addOption(new Option('--limit <count>', 'show at most this many').argParser(parseCount).default(100))
    .action(async (id, { status, limit }) =>
      cli.output.rows(deliveriesOf(await cli.client(), id, status, limit), DELIVERY_COLUMNS),
    );
  command
    .command('redeliver')
    .description('send deliveries again')
    .addArgument(WEBHOOK)
    .argument('<deliveries...>', 'their ids', collectIds)
    .action(async (id, delivery_ids) => {
      const request = { ...pathOf(id), body: { delivery_ids } };
      const { data } = await (await cli.client()).POST('/webhooks/{webhook_id}:redeliver', request);
      await cli.output.item(data, { redelivered: ({ redelivered }) => redelivered });
    });
  command
    .command('replay')
    .description('send the events between two events again, also those that have arrived')
    .addArgument(WEBHOOK)
    .requiredOption('--after <event>', 'id of the event before the first; "oldest" for all that are kept')
    .option('--before <event>', 'id of the first event that is not sent again', 'latest')
    .action(async (id, { after, before }) => {
      const request = { ...pathOf(id), body: { after, before } };
      const { data } = await (await cli.client()).POST('/webhooks/{webhook_id}:replay', request);
      await cli.output.item(data, { after: (range) => range.after, before: (range) => range.before });
    });
}

function deliveriesOf(
  client: FlotillaClient,
  webhook_id: number,
  status: Schemas['WebhookDelivery']['status'] | undefined,
  limit: number,
) {
  const params = { path: { webhook_id }, query: { status, limit: Math.min(limit, 1000) } };
  return limited(client.items('/webhooks/{webhook_id}/deliveries', { params }), limit);
}

function filterOptions(command: Command) {
  return command
    .addOption(
      new Option('--types <types>', 'only events of these types, with commas; "all" for all').argParser(parseNames),
    )
    .option('-q, --query <query>', 'only events about computers that this query finds; "" for all');
}

/** The server knows which types there are. */
function filterOf({ types, query }: { types?: string[] | undefined; query?: string | undefined }) {
  return {
    types: types?.join() === 'all' ? null : (types as Schemas['EventType'][] | undefined),
    query: query === '' ? null : query,
  };
}

function pathOf(webhook_id: number) {
  return { params: { path: { webhook_id } } };
}

/** Prints a secret alone, so that a shell can store it; as JSON with what the response has beside it. */
async function printSecret(cli: Cli, secret: string, response: object): Promise<void> {
  const { format } = cli.output;
  if (format === 'json' || format === 'ndjson') await cli.output.value(response);
  else await cli.output.text(`${secret}\n`);
  cli.output.note('Store the secret now: it is not shown again.');
}
