import type { Router } from 'express';
import type { ActiveAlert, AlertView } from '../../services/events/alerts.service.ts';
import { formatTime } from '../common/time.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';

export function alertsRoutes({ operation, services: { alerts } }: RouteDeps): Router {
  const listAlerts: Handler<'listAlerts'> = async ({ caller }) => (await alerts.list(caller)).map(toAlertResponse);
  const summarizeAlerts: Handler<'summarizeAlerts'> = async ({ caller }) => ({
    alerts_summary: (await alerts.summarize(caller)).map(toActiveAlertResponse),
  });
  const dismissAlert: Handler<'dismissAlert'> = async ({ caller, params }) =>
    toAlertResponse(await alerts.dismiss(caller, params.alert_id));
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
