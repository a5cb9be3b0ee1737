import { parentPort } from 'node:worker_threads';
// A CommonJS package: its named exports are not visible to an import.
import rrule from 'rrule';

/** What the thread is asked for. Times are ms since the epoch. */
export interface ExpansionRequest {
  /** A checked rule, without `RRULE:`. */
  rule: string;
  anchor: number;
  /** Dates strictly after this one and before `before`. */
  after: number;
  before: number;
  limit: number;
}

export type ExpansionReply = { dates: number[] } | { failure: string };

/** Expands rules, one request after the other; whoever asks ends the thread when it takes too long. */
function expand({ rule, anchor, after, before, limit }: ExpansionRequest): number[] {
  const options = { ...rrule.RRule.parseString(rule), dtstart: new Date(anchor), tzid: null };
  const dates: number[] = [];
  new rrule.RRule(options, true).between(new Date(after), new Date(before), false, (date) => {
    dates.push(date.getTime());
    return dates.length < limit;
  });
  return dates.slice(0, limit);
}

parentPort?.on('message', (request: ExpansionRequest) => {
  let reply: ExpansionReply;
  try {
    reply = { dates: expand(request) };
  } catch (error) {
    reply = { failure: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(reply);
});
parentPort?.postMessage('ready');
