import { ApiError } from '@flotilla/client';
import type { ActionRequest } from './plans/plan.ts';

/** Activities that one query names, which is what follows the last request. */
export const MAX_NAMED = 200;

/** How far the requests of an action have come. */
export interface Sent {
  /** Requests that the server has accepted. */
  accepted: number;
  total: number;
  /** The next one has been sent, and its response has not arrived. */
  isWaiting: boolean;
}

/** A request was sent, and whether the server has accepted it is unknown. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** The person has left, or stopped it, before all requests were sent. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

interface Sending {
  /** @returns the id of the activity that it started, if it started one */
  send: (request: ActionRequest) => Promise<number | null>;
  /** Called before and after each request, so that a reload of the page does not forget one. */
  save: (sent: Sent) => void;
  /** Whether no further request is to be sent. */
  isStopped?: () => boolean;
  /** Takes what the server refuses for one computer, and the others go on. Without it, a refusal ends the sending. */
  onRefused?: ((request: ActionRequest, error: ApiError) => void) | null;
}

/**
 * Sends requests one after the other, from the first that was not accepted, and collects the ids of the activities in `ids`.
 * It stops at the first that fails, but for computers that `onRefused` takes.
 * @throws {Stopped}
 * @throws {Unanswered} when one may have been accepted, otherwise the error of the one that was refused
 */
export async function sendAll(
  requests: readonly ActionRequest[],
  ids: number[],
  from: number,
  { send, save, isStopped = () => false, onRefused }: Sending,
): Promise<void> {
  let [accepted, total] = [from, requests.length];
  for (const request of requests.slice(from)) {
    if (isStopped()) throw new Stopped();
    save({ accepted, total, isWaiting: true });
    try {
      const id = await send(request);
      if (id !== null) ids.push(id);
      accepted += 1;
    } catch (error) {
      const isUnanswered = !isRefusal(error);
      if (!onRefused || !isAboutComputer(request, error)) {
        save({ accepted, total, isWaiting: isUnanswered });
        throw isUnanswered ? new Unanswered('The response was lost', { cause: error }) : error;
      }
      total -= 1;
      onRefused(request, error);
    }
    save({ accepted, total, isWaiting: false });
  }
}

/** Whether a request was refused for its computer, rather than for the session or because of too many requests. */
function isAboutComputer(request: ActionRequest, error: unknown): error is ApiError {
  return request.computer !== undefined && isRefusal(error) && ![401, 429, 503].includes((error as ApiError).status);
}

/** Whether the server has responded that it has not done it. A proxy cannot know that, and neither can an internal error. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code !== 'Unknown' && (error.status < 500 || error.status === 503);
}
