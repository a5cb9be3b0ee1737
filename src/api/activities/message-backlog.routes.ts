import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

type Setting = components['schemas']['MessageBacklogSetting'];

export function messageBacklogRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'messageBacklog'>;
}): Router {
  const { operation } = deps;
  const { messageBacklog } = deps.services;
  const getMessageBacklogSetting: Handler<'getMessageBacklogSetting'> = async ({ caller }) => {
    return { body: { max_message_backlog: await messageBacklog.read(caller) } satisfies Setting };
  };
  const setMessageBacklogSetting: Handler<'setMessageBacklogSetting'> = async ({ caller, body }) => {
    const { max_message_backlog: bound } = body as Setting;
    return { body: { max_message_backlog: await messageBacklog.set(caller, bound) } satisfies Setting };
  };
  const clearMessageBacklogSetting: Handler<'clearMessageBacklogSetting'> = async ({ caller }) => {
    await messageBacklog.clear(caller);
    return { status: 204 };
  };
  return createRouter()
    .get('/message-backlog-settings', operation('getMessageBacklogSetting', getMessageBacklogSetting))
    .put('/message-backlog-settings', operation('setMessageBacklogSetting', setMessageBacklogSetting))
    .delete('/message-backlog-settings', operation('clearMessageBacklogSetting', clearMessageBacklogSetting));
}
