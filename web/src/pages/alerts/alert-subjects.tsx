import { Link } from '@tanstack/react-router';
import { type Alert, alertQueryOf } from './alert-kinds.ts';

/** How many computers, profiles or webhooks an alert is about, with a link to them. */
export function AlertSubjects({ alert: { alert_type, scope, count, label } }: { alert: Alert }) {
  const text = `${count.toLocaleString()} ${scope}${count === 1 ? '' : 's'}`;
  if (count === 0) return <span className="quiet">–</span>;
  const name = `${text}: ${label}`;
  if (scope === 'profile') {
    return (
      <Link to="/profiles" aria-label={name}>
        {text}
      </Link>
    );
  }
  if (scope === 'webhook') {
    return (
      <Link to="/settings" search={{ tab: 'webhooks' }} aria-label={name}>
        {text}
      </Link>
    );
  }
  return (
    <Link to="/computers" search={{ query: alertQueryOf(alert_type) }} aria-label={name}>
      {text}
    </Link>
  );
}
