import type { ActiveAlert, AlertView } from '../../services/events/alerts.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';

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

/** Alerts cover all visible computers or profiles, and there are no subscriptions. */
function toAlertResponse({ id, type, label, description, scope, status }: AlertView) {
  return {
    id,
    alert_type: type,
    label,
    description,
    scope,
    status,
    subscribed: false,
    all_computers: scope === 'computer',
    tags: [],
  };
}

function toActiveAlertResponse({ type, summary, activationTime }: ActiveAlert) {
  return { alert_type: type, summary, activation_time: formatTime(activationTime) };
}
