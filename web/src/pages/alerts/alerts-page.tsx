import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { permissionsQuery, useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { AlertSubjects } from './alert-subjects.tsx';
import { type Alert, sortAlerts } from './alert-kinds.ts';
import { AlertState } from './alert-state.tsx';
import { alertsQuery } from './alerts-query.ts';
import { DismissDialog } from './dismiss-dialog.tsx';

/** Every kind of alert: whether it is active, on which computers, and since when. */
export function Page() {
  const can = useCan();
  const mayView = can('ViewComputer');
  const { data: permissions } = useQuery(permissionsQuery);
  const { data, error } = useQuery({ ...alertsQuery, enabled: mayView });
  const [dismissing, setDismissing] = useState<Alert | null>(null);
  const alerts = useMemo(() => data && sortAlerts(data), [data]);
  const columns = useMemo(() => columnsOf(setDismissing), []);
  const active = alerts?.filter(({ status }) => status === 'active').length;
  return (
    <PageLayout title="Alerts" fill aside={active !== undefined && <span className="quiet">{activeText(active)}</span>}>
      {permissions && !mayView ? (
        <EmptyState title="You have no access to alerts">
          They are about computers, and none of your roles lets you view any.
        </EmptyState>
      ) : (
        <DataTable
          label="Alerts"
          columns={columns}
          rows={allRows(alerts, error)}
          rowKey={({ id }) => id}
          empty={<EmptyState title="There are no alerts" />}
        />
      )}
      <DismissDialog alert={dismissing} onClose={() => setDismissing(null)} />
    </PageLayout>
  );
}

function activeText(active: number): string {
  return active === 0 ? 'None is active' : `${active} active`;
}

function columnsOf(dismiss: (alert: Alert) => void): Column<Alert>[] {
  return [
    { id: 'status', header: 'State', width: '120px', cell: (alert) => <AlertState alert={alert} /> },
    {
      id: 'label',
      header: 'Alert',
      width: 'minmax(240px, 3fr)',
      cell: ({ label, description }) => <span title={description}>{label}</span>,
    },
    {
      id: 'count',
      header: 'Affects',
      width: '136px',
      align: 'end',
      cell: (alert) => <AlertSubjects alert={alert} />,
    },
    {
      id: 'since',
      header: 'Since',
      width: 'minmax(120px, 1fr)',
      cell: ({ activation_time }) => <Time value={activation_time} format="relative" />,
    },
    {
      id: 'dismiss',
      header: 'Action',
      width: '96px',
      align: 'end',
      cell: (alert) =>
        alert.status === 'active' && (
          <Button kind="quiet" aria-label={`Dismiss: ${alert.label}`} onClick={() => dismiss(alert)}>
            Dismiss
          </Button>
        ),
    },
  ];
}
