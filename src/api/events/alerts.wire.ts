import type { ActiveAlert, AlertView } from '../../services/events/alerts.service.ts';
import { formatTime } from '../common/time.wire.ts';

/** Alerts cover all visible computers or profiles, and there are no subscriptions. */
export function toAlertResponse({ id, type, label, description, scope, status }: AlertView) {
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

export function toActiveAlertResponse({ type, summary, activationTime }: ActiveAlert) {
  return { alert_type: type, summary, activation_time: formatTime(activationTime) };
}
