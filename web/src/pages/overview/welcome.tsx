import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../ui/page.tsx';

/** What a fleet without computers shows: how the first one gets here. */
export function Welcome() {
  return (
    <EmptyState title="There are no computers yet">
      <ol className="steps">
        <li>
          Open{' '}
          <Link to="/settings" search={{ tab: 'enrolment' }}>
            Settings
          </Link>
          . It has the commands to enrol a computer, with the address of this server, the name of the account and the
          registration key filled in.
        </li>
        <li>
          Run them on a computer with Ubuntu. They install <code>landscape-client</code> and register it here.
        </li>
        <li>The computer appears on this page within a minute, and waits here until you accept it.</li>
      </ol>
    </EmptyState>
  );
}
