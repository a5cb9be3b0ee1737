import type { Handlers, Services } from '../http/handler.ts';

export function messageBacklogHandlers({ messageBacklog }: Services) {
  return {
    getMessageBacklogSetting: async ({ caller }) => ({
      max_message_backlog: await messageBacklog.read(caller),
    }),
    setMessageBacklogSetting: async ({ caller, body }) => ({
      max_message_backlog: await messageBacklog.set(caller, body.max_message_backlog),
    }),
    clearMessageBacklogSetting: ({ caller }) => messageBacklog.clear(caller),
  } satisfies Handlers;
}
