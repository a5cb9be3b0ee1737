import { Worker } from 'node:worker_threads';
import type { RecurrenceRule } from '../../domain/schedule/recurrence-rule.ts';
import type { Expansion, Recurrences } from '../ports.ts';
import type { ExpansionReply, ExpansionRequest } from './occurrence-thread.ts';

/** Rules of every kind take some milliseconds; what takes longer searches for a date that never comes. */
const LIMIT_MS = 500;
const START_LIMIT_MS = 10_000;
/** Expansions that wait for their turn; beyond it is refused, not queued. */
const MAX_WAITING = 1_000;

/**
 * Expansion by the rrule library in a thread of its own, which is ended when it takes too long: the library never
 * comes back from some legal rules.
 *
 * @param limitMs - for one expansion, without the start of the thread
 * @remarks The thread starts with the first expansion and keeps no process alive. Expansions take turns.
 * @see mission-and-ecosystem 3.3
 */
export function createRecurrences(limitMs = LIMIT_MS): Recurrences {
  let thread: Promise<Worker> | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const start = (): Promise<Worker> => {
    const started: Promise<Worker> = startThread(() => {
      if (thread === started) thread = null;
    });
    return started;
  };
  const run = async (request: ExpansionRequest): Promise<Expansion> => {
    thread ??= start();
    return await ask(await thread, request, limitMs);
  };
  return {
    async expand(rule, query) {
      if (waiting >= MAX_WAITING) throw new Error('too many schedules are being expanded');
      waiting += 1;
      const request = toRequest(rule, query);
      const result = turn.then(() => run(request));
      turn = result.catch(() => undefined);
      return await result.finally(() => {
        waiting -= 1;
      });
    },
  };
}

function toRequest(rule: RecurrenceRule, query: Parameters<Recurrences['expand']>[1]): ExpansionRequest {
  return {
    rule: libraryText(rule, query.anchor),
    anchor: query.anchor.getTime(),
    after: query.after.getTime(),
    before: query.before.getTime(),
    limit: query.limit,
  };
}

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/**
 * The rule as the library has to be told it, where it departs from RFC 5545: a week number alone means the anchor's
 * weekday in it, not all seven days; weekdays with and without a number in one list add to each other, so those
 * without are given all numbers.
 */
function libraryText({ text, lists, frequency }: RecurrenceRule, anchor: Date): string {
  const alone = lists['BYWEEKNO'] && !['BYDAY', 'BYMONTHDAY', 'BYYEARDAY'].some((name) => lists[name]);
  if (alone) return `${text};BYDAY=${DAYS[anchor.getUTCDay()]}`;
  const days = lists['BYDAY'] ?? [];
  const isMixed = days.some((day) => day.length > 2) && days.some((day) => day.length === 2);
  if (!isMixed) return text;
  const most = frequency === 'YEARLY' && !lists['BYMONTH'] ? 53 : 5;
  const numbered = days.flatMap((day) =>
    day.length > 2 ? [day] : Array.from({ length: most }, (_, n) => `${n + 1}${day}`),
  );
  return text.replace(/BYDAY=[^;]*/, `BYDAY=${numbered.join(',')}`);
}

/** @param onEnd - called once the thread cannot be used any more */
async function startThread(onEnd: () => void): Promise<Worker> {
  const worker = new Worker(new URL('./occurrence-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  const ready = await nextMessage(worker, START_LIMIT_MS);
  worker.unref();
  if (ready === null) throw new Error('the thread that expands schedules did not start in time');
  return worker;
}

async function ask(worker: Worker, request: ExpansionRequest, limitMs: number): Promise<Expansion> {
  worker.ref();
  const answer = nextMessage(worker, limitMs);
  worker.postMessage(request);
  const reply = (await answer) as ExpansionReply | null;
  worker.unref();
  if (reply === null) return 'too-long';
  if ('failure' in reply) throw new Error(`the rule cannot be expanded: ${reply.failure}`);
  return reply.dates.map((date) => new Date(date));
}

/** @returns null after `limitMs`, when the thread has been ended. @throws when the thread fails */
async function nextMessage(worker: Worker, limitMs: number): Promise<unknown> {
  return await new Promise<unknown>((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      end();
    };
    const onMessage = (message: unknown) => settle(() => resolve(message));
    const onError = (error: unknown) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error('the thread that expands schedules ended')));
    const timer = setTimeout(() => {
      worker.off('exit', onExit);
      void worker.terminate().then(() => settle(() => resolve(null)));
    }, limitMs);
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
  });
}
