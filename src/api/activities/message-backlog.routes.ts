import type { Router } from 'express';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';

export function messageBacklogRoutes({ operation, services: { messageBacklog } }: RouteDeps): Router {
  const getMessageBacklogSetting: Handler<'getMessageBacklogSetting'> = async ({ caller }) => ({
    max_message_backlog: await messageBacklog.read(caller),
  });
  const setMessageBacklogSetting: Handler<'setMessageBacklogSetting'> = async ({ caller, body }) => ({
    max_message_backlog: await messageBacklog.set(caller, body.max_message_backlog),
  });
  const clearMessageBacklogSetting: Handler<'clearMessageBacklogSetting'> = ({ caller }) =>
    messageBacklog.clear(caller);
  return createRouter()
    .get('/message-backlog-settings', operation('getMessageBacklogSetting', getMessageBacklogSetting))
    .put('/message-backlog-settings', operation('setMessageBacklogSetting', setMessageBacklogSetting))
    .delete('/message-backlog-settings', operation('clearMessageBacklogSetting', clearMessageBacklogSetting));
}
