import type { AlertView } from '../../services/events/alerts.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Services } from '../http/handler.ts';

export function alertsHandlers({ alerts }: Services) {
  return {
    listAlerts: async ({ caller }) => (await alerts.list(caller)).map(toAlertResponse),
    summarizeAlerts: async ({ caller }) => ({
      alerts_summary: (await alerts.summarize(caller)).map(({ type, summary, activationTime }) => ({
        alert_type: type,
        summary,
        activation_time: formatTime(activationTime),
      })),
    }),
    dismissAlert: async ({ caller, params }) => toAlertResponse(await alerts.dismiss(caller, params.alert_id)),
  } satisfies Handlers;
}

/** Alerts cover all visible computers or profiles, and there are no subscriptions. */
function toAlertResponse(alert: AlertView) {
  const { id, type, label, description, scope, severity, status, count, activationTime } = alert;
  return {
    id,
    alert_type: type,
    label,
    description,
    scope,
    severity,
    status,
    count,
    activation_time: activationTime && formatTime(activationTime),
    subscribed: false,
    all_computers: scope === 'computer',
    tags: [],
  };
}
