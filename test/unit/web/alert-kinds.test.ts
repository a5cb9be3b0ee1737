import { expect, it } from 'vitest';
import { ALERT_RULES } from '../../../src/persistence/query/alert-conditions.ts';
import { type Alert, alertQueryOf, sortAlerts } from '../../../web/src/pages/alerts/alert-kinds.ts';

it('the query of each alert about computers has its selector', () => {
  expect(ALERT_RULES.map(({ type }) => alertQueryOf(type))).toEqual(ALERT_RULES.map(({ name }) => `alert:${name}`));
});

it('active alerts come first, severe ones before others', () => {
  const alerts = [
    { id: 1, status: 'inactive', severity: 'danger' },
    { id: 2, status: 'active', severity: 'info' },
    { id: 3, status: 'dismissed', severity: 'danger' },
    { id: 4, status: 'active', severity: 'danger' },
    { id: 5, status: 'active', severity: 'info' },
  ] as Alert[];
  expect(sortAlerts(alerts).map(({ id }) => id)).toEqual([4, 2, 5, 3, 1]);
});
