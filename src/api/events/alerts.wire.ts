import type { ActiveAlert, AlertView } from '../../services/events/alerts.service.ts';
import { wireTime } from '../common/time.wire.ts';

/** An alert of the list. It is about every computer, or profile, in sight; there are no subscriptions to it. */
export function wireAlert({ id, type, label, description, scope, status }: AlertView) {
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

/** A line of the summary. */
export function wireActiveAlert({ type, summary, activationTime }: ActiveAlert) {
  return { alert_type: type, summary, activation_time: wireTime(activationTime) };
}
