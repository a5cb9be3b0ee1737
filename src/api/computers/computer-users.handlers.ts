import type { Handlers, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function computerUsersHandlers({ computerUsers }: Services) {
  return {
    listComputerUsers: async (context) => {
      const computer = context.params.computer_id;
      const page = { ...pageOf(context), search: context.query.search ?? '' };
      const { count, rows } = await computerUsers.list(context.caller, computer, page);
      return envelope(context, { count, results: rows }, (row) => ({ computer_id: computer, ...row }));
    },
  } satisfies Handlers;
}
