import type { components, FlotillaClient } from '@flotilla/client';
import type { Cli } from './cli.ts';
import { CliError, EXIT } from './errors.ts';
import { interruptible } from './interrupt.ts';
import type { Columns } from './output/output.ts';
import { chooseTargets, queriesFor, type Target, type TargetOptions } from './targets.ts';
import { type DetailedActivity, exitCodeOf, printHowToContinue, watch } from './watch.ts';

/** What all the responses that describe an activity have. */
interface Activity {
  id: number;
  activity_status: string | null;
  summary: string;
  creation_time: string;
}
type Child = components['schemas']['ChildActivity'];

export interface WaitOptions {
  wait?: true | undefined;
  timeout?: number | undefined;
}

/** Activities that a command starts: one, or one for each computer, as they come. Ctrl-C aborts the signal. */
export type Start = (client: FlotillaClient, targets: Target[], signal: AbortSignal) => AsyncIterable<Activity>;

export const ACTIVITY_COLUMNS: Columns<Activity> = {
  id: (activity) => activity.id,
  status: (activity) => activity.activity_status,
  summary: (activity) => activity.summary,
  created: (activity) => activity.creation_time,
};

export const CHILD_COLUMNS: Columns<Child> = {
  id: (child) => child.id,
  computer: (child) => child.computer_id,
  title: (child) => child.computer_title,
  status: (child) => child.activity_status,
  result: (child) => child.result_text?.trimEnd().split('\n')[0],
};

const MAX_SHOWN_FAILURES = 20;

/**
 * Acts on the computers that the options choose, and waits for the end if they say so.
 *
 * @param what - what happens to them, such as `Restart`
 * @param start - gets exactly the computers that were counted, at least one
 */
export async function act(
  cli: Cli,
  options: TargetOptions & WaitOptions,
  what: string,
  start: Start,
  show: { always?: boolean; ended?: (activities: DetailedActivity[]) => Promise<void> } = {},
): Promise<void> {
  const client = await cli.client();
  const targets = await chooseTargets(cli, client, options, what, show.always);
  if (targets.length === 0) await cli.output.rows([], ACTIVITY_COLUMNS);
  else await startAndWait(cli, client, options, (signal) => start(client, targets, signal), show.ended);
}

/** Sends a request for each item, until the signal is aborted. */
export async function* startEach<Item>(
  items: Iterable<Item>,
  signal: AbortSignal,
  send: (item: Item) => Promise<{ data: Activity }>,
): AsyncIterable<Activity> {
  for (const item of items) {
    if (signal.aborted) return;
    yield (await send(item)).data;
  }
}

/** Starts activities, shows them, and waits for their end if the options request it. */
export async function startAndWait(
  cli: Cli,
  client: FlotillaClient,
  options: WaitOptions,
  start: (signal: AbortSignal) => AsyncIterable<Activity>,
  showEnded = (activities: DetailedActivity[]) => showOutcome(cli, activities),
): Promise<void> {
  const activities: Activity[] = [];
  const isInterrupted = await interruptible(async (signal) => {
    try {
      for await (const activity of start(signal)) activities.push(activity);
    } catch (error) {
      if (signal.aborted && activities.length === 0) return true;
      // What was accepted before the error is still carried out.
      if (activities.length > 0) {
        await cli.output.rows(activities, ACTIVITY_COLUMNS);
        cli.output.note(`${activities.length} of the requests were accepted before this error:`);
      }
      throw error;
    }
    return signal.aborted;
  });
  if (isInterrupted) await showInterrupted(cli, activities);
  else await followActivities(cli, client, activities, options, showEnded);
}

/** Shows what was accepted before Ctrl-C and is still carried out. */
async function showInterrupted(cli: Cli, activities: Activity[]): Promise<void> {
  if (activities.length === 0) throw new CliError(EXIT.canceled, 'Nothing was done');
  await cli.output.rows(activities, ACTIVITY_COLUMNS);
  cli.output.note(`Interrupted: ${activities.length} of the requests were accepted, and no others were sent.`);
  cli.exitCode = EXIT.unfinished;
  printHowToContinue(
    cli,
    activities.map(({ id }) => id),
  );
}

/** Starts one activity, shows it, and waits for its end if the options request it. */
export async function startOne(
  cli: Cli,
  options: WaitOptions,
  start: (client: FlotillaClient) => Promise<{ data: Activity }>,
): Promise<void> {
  const client = await cli.client();
  await followActivities(cli, client, [(await start(client)).data], options);
}

/** Waits for activities if the options request it, and shows how they stand. */
export async function followActivities(
  cli: Cli,
  client: FlotillaClient,
  activities: Activity[],
  { wait, timeout }: WaitOptions,
  showEnded = (ended: DetailedActivity[]) => showOutcome(cli, ended),
): Promise<void> {
  const ids = activities.map(({ id }) => id);
  const isWatched = wait === true || timeout !== undefined;
  const ended = isWatched ? await watchOrShow(cli, client, activities, timeout ?? null) : null;
  if (ended !== null) {
    cli.exitCode = exitCodeOf(ended);
    await showEnded(ended);
    printPendingApprovals(cli, ended);
    return;
  }
  await cli.output.rows(activities, ACTIVITY_COLUMNS);
  if (!isWatched && exitCodeOf(activities) === EXIT.unapproved) cli.exitCode = EXIT.unapproved;
  printPendingApprovals(cli, activities);
  if (isWatched || cli.output.isForPeople) printHowToContinue(cli, ids);
}

/** Watches activities. If that fails, it shows them before it throws the error, because they continue. */
async function watchOrShow(cli: Cli, client: FlotillaClient, activities: Activity[], timeout: number | null) {
  const ids = activities.map(({ id }) => id);
  try {
    return await watch(cli, client, ids, { timeout });
  } catch (error) {
    await cli.output.rows(activities, ACTIVITY_COLUMNS);
    printHowToContinue(cli, ids);
    throw error;
  }
}

/** Shows ended activities; to people also the operations that did not succeed. */
export async function showOutcome(cli: Cli, activities: DetailedActivity[]): Promise<void> {
  await cli.output.rows(activities, ACTIVITY_COLUMNS);
  if (!cli.output.isForPeople) return;
  const bad = activities.flatMap(({ children }) => children).filter((child) => child.activity_status !== 'succeeded');
  if (bad.length === 0) return;
  await cli.output.rows(bad.slice(0, MAX_SHOWN_FAILURES), CHILD_COLUMNS);
  const more = bad.length - MAX_SHOWN_FAILURES;
  if (more > 0) cli.output.note(`and ${more} more; "flotilla activities show ID" shows all of an activity`);
}

/**
 * Changes the computers that the options choose by calls that take a query and return the ids of what they changed.
 *
 * @param what - what happens to them, such as `Tag with web`
 */
export async function edit(
  cli: Cli,
  options: TargetOptions,
  what: string,
  change: (client: FlotillaClient, query: string) => Promise<unknown>,
): Promise<void> {
  const client = await cli.client();
  const targets = await chooseTargets(cli, client, options, what);
  for (const query of queriesFor(targets)) await change(client, query);
  await cli.output.rows(targets, { id: (target) => target.id, title: (target) => target.title });
}

function printPendingApprovals(cli: Cli, activities: readonly Activity[]): void {
  const ids = activities.filter((activity) => activity.activity_status === 'unapproved').map(({ id }) => id);
  if (ids.length > 0) cli.output.note(`Needs approval: flotilla activities approve ${ids.join(' ')}`);
}
