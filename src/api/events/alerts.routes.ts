import type { Router } from 'express';
import type { ActiveAlert, AlertView } from '../../services/events/alerts.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';

export function alertsRoutes(deps: { operation: ServeOperation; services: Pick<Services, 'alerts'> }): Router {
  const { operation } = deps;
  const { alerts } = deps.services;
  const listAlerts: Handler<'listAlerts'> = async ({ caller }) => {
    return { body: (await alerts.list(caller)).map(toAlertResponse) };
  };
  const summarizeAlerts: Handler<'summarizeAlerts'> = async ({ caller }) => {
    return { body: { alerts_summary: (await alerts.summarize(caller)).map(toActiveAlertResponse) } };
  };
  const dismissAlert: Handler<'dismissAlert'> = async ({ caller, params }) => {
    return { body: toAlertResponse(await alerts.dismiss(caller, params.alert_id)) };
  };
  return createRouter()
    .get('/alerts', operation('listAlerts', listAlerts))
    .get('/alerts/summary', operation('summarizeAlerts', summarizeAlerts))
    .post('/alerts/:alert_id/dismiss', operation('dismissAlert', dismissAlert));
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
