import type { PendingComputersService } from '../../services/computers/pending-computers.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function pendingComputersHandlers({ pendingComputers }: Services) {
  return {
    listPendingComputers: async (context) => {
      const { count, rows } = await pendingComputers.list(context.caller, pageOf(context));
      return envelope(context, { count, results: rows }, toPendingComputerResponse);
    },
    acceptPendingComputers: async ({ caller, body, traceparent }) => {
      const { computer_ids, access_group } = body;
      const to = { accessGroup: access_group ?? undefined, traceparent };
      return await pendingComputers.accept(caller, computer_ids, to);
    },
    rejectPendingComputers: ({ caller, body }) => pendingComputers.reject(caller, body.computer_ids),
  } satisfies Handlers;
}

type PendingComputer = Awaited<ReturnType<PendingComputersService['list']>>['rows'][number];

function toPendingComputerResponse(computer: PendingComputer): Schemas['PendingComputer'] {
  return { ...computer, creation_time: formatTime(computer.creation_time) };
}
