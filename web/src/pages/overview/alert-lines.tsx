import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Time } from '../../ui/time.tsx';
import { sortAlerts } from '../alerts/alert-kinds.ts';
import { AlertState } from '../alerts/alert-state.tsx';
import { AlertSubjects } from '../alerts/alert-subjects.tsx';
import { alertsQuery } from '../alerts/alerts-query.ts';
import { LineList } from './line-list.tsx';

/** Active alerts that the person has not dismissed. */
export function AlertLines() {
  const { data, error } = useQuery(alertsQuery);
  const active = data && sortAlerts(data).filter(({ status }) => status === 'active');
  return (
    <LineList
      title="Alerts"
      items={active}
      error={error}
      empty="No alert is active."
      actions={<Link to="/alerts">All alerts</Link>}
    >
      {(alert) => (
        <>
          <AlertState alert={alert} hideText />
          <span className="line-text" title={alert.description}>
            {alert.label}
          </span>
          <Time value={alert.activation_time} format="relative" />
          <span className="line-number">
            <AlertSubjects alert={alert} />
          </span>
        </>
      )}
    </LineList>
  );
}
