import type { Services } from '../../services/setup/services.ts';
import type { Handlers } from '../http/handler.ts';
import { toActiveAlertResponse, toAlertResponse } from './alerts.wire.ts';

export function alertsRoutes(deps: { services: Pick<Services, 'alerts'> }): Handlers {
  const { alerts } = deps.services;
  return {
    async listAlerts({ caller }) {
      return { body: (await alerts.list(caller)).map(toAlertResponse) };
    },
    async summarizeAlerts({ caller }) {
      return { body: { alerts_summary: (await alerts.summarize(caller)).map(toActiveAlertResponse) } };
    },
    async dismissAlert({ caller, params }) {
      return { body: toAlertResponse(await alerts.dismiss(caller, params['alert_id'] as number)) };
    },
  };
}
