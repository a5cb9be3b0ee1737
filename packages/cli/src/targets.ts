import type { FlotillaClient } from '@flotilla/client';
import type { Cli } from './cli.ts';
import { CliError, EXIT } from './errors.ts';
import { confirm } from './prompts.ts';

/** A computer that something is about to happen to. */
export interface Target {
  id: number;
  title: string;
}

export interface TargetOptions {
  query?: string | undefined;
  id?: number[] | undefined;
  all?: true | undefined;
  yes?: true | undefined;
}

/** Terms that the server accepts in one query. */
const MAX_TERMS = 200;
const SHOWN_TITLES = 3;

/**
 * Finds the computers that the options choose, prints how many there are, and prompts before more than one is touched.
 *
 * @param what - what happens to them, such as `Restart`
 * @param always - prompt for a single computer, too
 * @throws {CliError} without exactly one choice, for an unknown id, and when the answer is no
 */
export async function chooseTargets(
  cli: Cli,
  client: FlotillaClient,
  options: TargetOptions,
  what: string,
  always = false,
): Promise<Target[]> {
  const targets = await findTargets(client, options);
  if (targets.length === 0) cli.output.note('No computer matches; nothing was done.');
  else if (targets.length > 1 || always) await confirm(cli, `${what}: ${describeTargets(targets)}`, options.yes);
  return targets;
}

/** Queries that find exactly these computers, each as many as a query may name. */
export function queriesFor(targets: readonly Target[]): string[] {
  const ids = targets.map(({ id }) => `id:${id}`);
  const count = Math.ceil(ids.length / MAX_TERMS);
  return Array.from({ length: count }, (_, i) => ids.slice(i * MAX_TERMS, (i + 1) * MAX_TERMS).join(' OR '));
}

/** Such as `25 computers (web-1, web-2, web-3 and 22 more)`. */
export function describeTargets(targets: readonly Target[]): string {
  const shown = targets.slice(0, SHOWN_TITLES).map(({ title }) => title);
  const more = targets.length - shown.length;
  const names = more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
  return `${targets.length === 1 ? '1 computer' : `${targets.length} computers`} (${names})`;
}

async function findTargets(client: FlotillaClient, { query, id, all }: TargetOptions): Promise<Target[]> {
  if ([query, id, all].filter((choice) => choice !== undefined).length !== 1) {
    throw new CliError(EXIT.usage, 'Choose the computers by one of -q QUERY, --id ID,ID or --all');
  }
  if (query?.trim() === '') {
    throw new CliError(EXIT.usage, 'The query is empty, which finds all computers: use --all if that is what you want');
  }
  if (id === undefined) return findByQuery(client, query ?? '');
  const requested = id.map((one) => ({ id: one, title: '' }));
  const found = (await Promise.all(queriesFor(requested).map((one) => findByQuery(client, one)))).flat();
  const known = new Set(found.map((target) => target.id));
  const unknown = id.filter((one) => !known.has(one));
  if (unknown.length > 0) {
    throw new CliError(EXIT.refused, `There is no active computer with the id ${unknown.join(', ')}; nothing was done`);
  }
  return found;
}

async function findByQuery(client: FlotillaClient, query: string): Promise<Target[]> {
  const targets: Target[] = [];
  const rows = client.items('/computers', { params: { query: { query, root_only: false } } });
  for await (const { id, title } of rows) targets.push({ id, title });
  return targets;
}
