import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../packages/client/src/index.ts';
import type { ActionRequest } from '../../../web/src/acting/plans/plan.ts';
import { isRefusal, type Sent, sendAll, Stopped, Unanswered } from '../../../web/src/acting/sending.ts';

const REQUESTS: ActionRequest[] = [1, 2, 3].map((id) => ({
  method: 'POST',
  path: `/computers/${id}/restart`,
  body: {},
}));
const COMPUTER = { title: 'web', accessGroup: 'global', tags: [], isOffline: false, annotations: {} };
const refused = (status: number, error?: string) => new ApiError(new Response(null, { status }), error && { error });

/** Sends the requests to a server that fails once, at the second one. */
async function sendWith(failure: Error | null, from = 0) {
  const sent: string[] = [];
  const saved: Sent[] = [];
  const ids: number[] = [];
  const end = await sendAll(REQUESTS, ids, from, {
    async send({ path }) {
      sent.push(path);
      if (failure && path.includes('/2/')) throw failure;
      return sent.length + 10;
    },
    save: (now) => saved.push(now),
  }).catch((error: unknown) => error);
  return { sent, last: saved.at(-1), ids, end };
}

describe('sending the requests of an action', () => {
  it('sends each once, in their order', async () => {
    const { sent, last, ids } = await sendWith(null);
    expect(sent).toEqual(REQUESTS.map(({ path }) => path));
    expect(ids).toEqual([11, 12, 13]);
    expect(last).toEqual({ accepted: 3, total: 3, isWaiting: false });
  });

  it('stops where one is refused, and goes on from there', async () => {
    const { sent, last, end } = await sendWith(refused(400, 'ComputerArchived'));
    expect(sent).toHaveLength(2);
    expect(last).toEqual({ accepted: 1, total: 3, isWaiting: false });
    expect(end).toBeInstanceOf(ApiError);
    const rest = await sendWith(null, 1);
    expect(rest.sent).toEqual(['/computers/2/restart', '/computers/3/restart']);
  });

  it('leaves out the computers that are refused when that is wanted, but not what else is refused', async () => {
    const requests = REQUESTS.map((request, index) => ({ ...request, computer: { ...COMPUTER, id: index + 1 } }));
    const send = async (failure: Error) => {
      const left: ActionRequest[] = [];
      const saved: Sent[] = [];
      const ids: number[] = [];
      const end = await sendAll(requests, ids, 0, {
        send: async ({ path }) => (path.includes('/2/') ? Promise.reject(failure) : 7),
        save: (now) => saved.push(now),
        onRefused: (request) => left.push(request),
      }).catch((error: unknown) => error);
      return { left, ids, end, last: saved.at(-1) };
    };
    expect(await send(refused(400, 'ComputerArchived'))).toEqual({
      left: [requests[1]],
      ids: [7, 7],
      end: undefined,
      last: { accepted: 2, total: 2, isWaiting: false },
    });
    for (const failure of [
      refused(401, 'Unauthorized'),
      refused(429, 'TooManyRequests'),
      refused(500, 'InternalError'),
    ]) {
      expect(await send(failure)).toMatchObject({ left: [], ids: [7], end: expect.any(Error) });
    }
  });

  it.each([
    ['a lost connection', new TypeError('Failed to fetch')],
    ['an internal error', refused(500, 'InternalError')],
    ['a proxy that got no response', refused(504)],
    ['a page of another server', refused(200)],
  ])('remembers a request whose result is unknown: %s', async (_, failure) => {
    const { last, end } = await sendWith(failure);
    expect(end).toBeInstanceOf(Unanswered);
    expect(last).toEqual({ accepted: 1, total: 3, isWaiting: true });
  });

  it('sends no further request once the person has left, and forgets none that was sent', async () => {
    const sent: string[] = [];
    const saved: Sent[] = [];
    const send = async ({ path }: ActionRequest) => sent.push(path);
    const isStopped = () => sent.length === 2;
    const end = sendAll(REQUESTS, [], 0, { send, save: (now) => saved.push(now), isStopped });
    await expect(end).rejects.toBeInstanceOf(Stopped);
    expect(sent).toEqual(['/computers/1/restart', '/computers/2/restart']);
    expect(saved.at(-1)).toEqual({ accepted: 2, total: 3, isWaiting: false });
  });

  it('takes only an answer of the server for a refusal', () => {
    expect(isRefusal(refused(401, 'Unauthorized'))).toBe(true);
    expect(isRefusal(refused(503, 'ServiceUnavailable'))).toBe(true);
    expect(isRefusal(refused(503))).toBe(false);
    expect(isRefusal(new Error('aborted'))).toBe(false);
  });
});
