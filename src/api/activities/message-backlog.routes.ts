import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';

type Setting = components['schemas']['MessageBacklogSetting'];

export function messageBacklogRoutes(deps: { services: Pick<Services, 'messageBacklog'> }): Handlers {
  const { messageBacklog } = deps.services;
  return {
    async getMessageBacklogSetting({ caller }) {
      return { body: { max_message_backlog: await messageBacklog.read(caller) } satisfies Setting };
    },
    async setMessageBacklogSetting({ caller, body }) {
      const { max_message_backlog: bound } = body as Setting;
      return { body: { max_message_backlog: await messageBacklog.set(caller, bound) } satisfies Setting };
    },
    async clearMessageBacklogSetting({ caller }) {
      await messageBacklog.clear(caller);
      return { status: 204 };
    },
  };
}
