import type { components } from '@flotilla/client';

export type Alert = components['schemas']['Alert'];

const STATUSES = ['active', 'dismissed', 'inactive'] satisfies Array<Alert['status']>;
const SEVERITIES = ['danger', 'warning', 'info'] satisfies Array<Alert['severity']>;

/** The query that finds the computers of an alert: `ComputerOfflineAlert` is `alert:computer-offline`. */
export function alertQueryOf(alertType: string): string {
  const words = alertType.replace(/Alert$/, '').replace(/(?<!^)(?=[A-Z])/g, '-');
  return `alert:${words.toLowerCase()}`;
}

/** Active alerts first, then those that the person has dismissed; severe ones first in each. */
export function sortAlerts(alerts: readonly Alert[]): Alert[] {
  return alerts.toSorted(
    (one, other) =>
      STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status) ||
      SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity),
  );
}
